// SPDX-License-Identifier: MIT
// `ddlrun config show`: the settings that a submission from here would have, and where each comes from.
#include "base/os/configuration_path.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "doctor/site/site_signatures.hpp"
#include "schedulers/client/job_options.hpp"
#include "schedulers/job/job_settings_text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

namespace {

constexpr std::string_view config_examples =
    R"(  ddlrun config show                     # the settings of a job that is submitted from here
  ddlrun config show --origin            # with the file and line, or the variable, of each
  ddlrun config show --site my-cluster   # as `submit --site my-cluster` has them)";

constexpr std::string_view config_notes =
    R"(A setting comes from the first of these that has it: a variable such as DDLRUN_WALLTIME, ddlrun.yaml, the
user's config.yaml, the centre's config.yaml, the site's profile. Where none has it, what is built in
applies. Settings that nothing gives are not shown. The directories that were searched are on stderr.)";

struct ConfigOptions {
  std::string what, site;
  bool origin = false;
  schedulers::JobOptions job;
};

void print_directories(System& system) {
  for (const std::string& directory : find_configuration_directories(system.environment))
    system.err(fmt::format("ddlrun: configuration: {}{}\n", printable(directory, 400),
                           system.files.exists(directory) ? "" : " (does not exist)"));
  for (const std::string& file : diagnose::list_signature_files(system))
    system.err(fmt::format("ddlrun: signatures: {}\n", printable(file, 400)));
}

int run_config(System& system, ConfigOptions& options) {
  if (options.what != "show") {
    const std::string what = options.what.empty()
                                 ? "what to do is not given"
                                 : fmt::format("'{}' is not show", printable(options.what, 60));
    throw Error(ErrorKind::usage, {what, "", "ddlrun config show"});
  }
  if (!options.site.empty()) options.job.flags["site"] = {options.site};
  const schedulers::JobLayers layers = schedulers::load_job_layers(system, options.job);
  print_directories(system);
  if (!layers.site.title.empty())
    system.err(fmt::format("ddlrun: site: {}, from {}\n", printable(layers.site.title),
                           layers.site.is_builtin ? "ddlrun itself" : printable(layers.site.file, 400)));
  system.out(schedulers::render_applying_settings(layers.settings, options.origin));
  for (const Message& error : layers.errors) system.err(render_error("ddlrun", error));
  return layers.errors.empty() ? 0 : exit_code(ErrorKind::request);
}

}  // namespace

Subcommand config_command() {
  Subcommand command;
  command.name = "config";
  command.summary = "show the settings that apply to a job, and where each comes from";
  command.examples = config_examples;
  command.notes = config_notes;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<ConfigOptions>();
    app.add_option("WHAT", options->what, "show");
    app.add_flag("--origin", options->origin, "add the file and line, or the variable, of each setting");
    app.add_option("--site", options->site, "profile of the centre")->type_name("NAME|FILE");
    app.add_option("--job", options->job.file, "the job file (./ddlrun.yaml if it exists)")
        ->type_name("FILE");
    return [options](System& system) { return run_config(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
