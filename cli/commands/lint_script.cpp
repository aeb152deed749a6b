// SPDX-License-Identifier: MIT
#include "base/os/nearest_file.hpp"
#include "base/text/error.hpp"
#include "base/text/printable_path.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/machine_flags.hpp"
#include "cli/option_values.hpp"
#include "schedulers/client/site_files.hpp"
#include "schedulers/scripts/lint.hpp"
#include "schedulers/scripts/lint_examples.hpp"
#include "schedulers/scripts/lint_fix.hpp"
#include "topology/sources/machine_loader.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace ddlrun::cli {

using namespace topology;

namespace {

struct LintScriptOptions {
  std::string file, site, scheduler, explain;
  bool json = false, fix = false, list = false;
  MachineOptions machine;
};

void set_scheduler(const std::string& text, job_scripts::LintContext& context) {
  if (text.empty()) return;
  if (text != "slurm" && text != "pbs" && text != "torque")
    throw Error(ErrorKind::usage,
                {fmt::format("--scheduler must be slurm, pbs or torque, not \"{}\"", printable(text, 40)),
                 "--scheduler", "--scheduler slurm"});
  context.scheduler = text == "slurm" ? job_scripts::Dialect::slurm : job_scripts::Dialect::pbs;
  if (text != "slurm")
    context.pbs_kind = text == "torque" ? job_scripts::PbsKind::torque : job_scripts::PbsKind::open_pbs;
}

// Packages, cores and hardware threads; a machine whose packages differ is taken by its average.
std::optional<affinity::ThreadMachine> machine_of_options(System& system, const MachineOptions& options) {
  if (!any_given(options)) return std::nullopt;
  const auto machine = machine_from_options(system, options);
  const auto packages = static_cast<std::uint32_t>(machine.packages.empty() ? 1 : machine.packages.size());
  const auto cores = static_cast<std::uint32_t>(machine.cores.size());
  const auto threads =
      static_cast<std::uint32_t>(machine.cores.empty() ? 1 : machine.cores.front().pus.size());
  return affinity::ThreadMachine{packages, cores / packages, threads};
}

// Of this directory, from which such a job is usually submitted, or beside the script.
job_scripts::ScriptFiles files_of(System& system, const std::string& script) {
  const std::string beside = script.find('/') == std::string::npos ? "" : directory_of(script) + "/";
  const auto exists = [&system, beside](const std::string& path) {
    return system.files.exists(path) || (!beside.empty() && system.files.exists(beside + path));
  };
  const auto nearest = [&system, beside](const std::string& path) {
    auto near = nearest_file(system, path);
    if (near || beside.empty()) return near;
    near = nearest_file(system, beside + path);
    return near ? std::optional(near->substr(beside.size())) : std::nullopt;
  };
  return {exists, nearest};
}

std::string praise_script(const job_scripts::JobScript& script, const job_scripts::LintContext& context) {
  const char* system = script.dialect == job_scripts::Dialect::slurm ? "Slurm" : "PBS";
  const std::string unchecked =
      context.site == nullptr
          ? ""
          : fmt::format("; whether {} has the queue and the application is not checked", context.site->name);
  const std::size_t options = script.directives.size();
  return fmt::format("ddlrun: {}: no findings; {} {} option{} checked{}\n", printable_path(script.file),
                     options, system, options == 1 ? "" : "s", unchecked);
}

std::string render_all(const std::string& file, const std::vector<job_scripts::Finding>& findings) {
  std::string text;
  for (const auto& finding : findings) text += job_scripts::render_finding(file, finding);
  return text;
}

// "place-missing, kmp-compact"; with the lines: "kmp-grammar in line 9".
std::string list_ids(const std::vector<job_scripts::Finding>& findings, bool with_lines) {
  constexpr std::size_t most_ids = 8;
  std::vector<std::string> names;
  for (const auto& finding : findings) {
    std::string name = finding.id;
    if (with_lines && finding.place.line > 0) name += fmt::format(" in line {}", finding.place.line);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names.empty() ? "" : fmt::format(" ({})", join_first(names, most_ids));
}

int run_fix(System& system, const job_scripts::JobScript& script, const job_scripts::LintContext& context) {
  const auto fixed = job_scripts::fix_script(script, context);
  system.out(fixed.text);
  system.err(render_all(script.file, fixed.remaining));
  system.err(fmt::format("ddlrun: {}: {} corrected{}; {} left{}\n", printable_path(script.file),
                         job_scripts::render_counts(fixed.fixed), list_ids(fixed.fixed, false),
                         job_scripts::render_counts(fixed.remaining), list_ids(fixed.remaining, true)));
  return job_scripts::needs_attention(fixed.remaining) ? 1 : 0;
}

int run_lint_script(System& system, const LintScriptOptions& options) {
  if (options.list) {
    system.out(job_scripts::list_rules());
    return 0;
  }
  if (!options.explain.empty()) {
    system.out(coloured_report(system.environment, job_scripts::explain_rule(options.explain)));
    return 0;
  }
  if (options.file.empty())
    throw Error(ErrorKind::usage, {"no script given", "", "ddlrun lint-script job.sh"});
  if (options.fix && options.json)
    throw Error(ErrorKind::usage, {"--fix prints a script, --json a report", "", "one of the two"});
  job_scripts::LintContext context;
  set_scheduler(options.scheduler, context);
  std::optional<templates::SiteProfile> site;
  if (!options.site.empty()) site = schedulers::load_site(system, options.site);
  if (site) context.site = &*site;
  context.machine = machine_of_options(system, options.machine);
  const job_scripts::ScriptFiles files = files_of(system, options.file);
  context.files = &files;
  const auto script = job_scripts::parse_job_script(
      system.files.read(options.file, job_scripts::max_script_bytes), options.file);
  job_scripts::refuse_outsized(script);
  if (options.fix) return run_fix(system, script, context);
  const auto findings = job_scripts::lint_script(script, context);
  if (options.json) {
    system.out(job_scripts::render_findings_json(script, findings));
  } else {
    system.out(coloured_report(system.environment, render_all(options.file, findings)));
    system.err(findings.empty() ? praise_script(script, context)
                                : fmt::format("ddlrun: {}: {}\n", printable_path(options.file),
                                              job_scripts::render_counts(findings)));
  }
  return job_scripts::needs_attention(findings) ? 1 : 0;
}

}  // namespace

Subcommand lint_script_command() {
  Subcommand command;
  command.name = "lint-script";
  command.summary = "find the lines of a job script that a scheduler, shell or launcher misreads";
  command.examples = R"(  ddlrun lint-script job.pbs
  ddlrun lint-script job.pbs --fix > fixed.pbs
  ddlrun lint-script job.sh --site kisti-nurion
  ddlrun lint-script --explain place-missing
  ddlrun lint-script job.sh --sockets 2 --cores 20 --smt 2 --json)";
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<LintScriptOptions>();
    app.add_option("FILE", options->file, "the script, for PBS or Slurm; -: stdin");
    app.add_option(
           "--site", options->site,
           "rules of the centre: required fields and limits of walltime; not its queues and applications")
        ->type_name("NAME|FILE");
    app.add_option("--scheduler", options->scheduler,
                   "slurm, pbs (OpenPBS, PBS Pro) or torque; default: from the directives")
        ->type_name("NAME");
    add_machine_options(app, options->machine);
    app.add_flag("--fix", options->fix,
                 "print the corrected script, and on stderr what is left; corrects bytes, line ends, the "
                 "shell, quotes, the directory, and lines whose remedy leaves no choice");
    app.add_option("--explain", options->explain, "show an example of one finding, and the script without it")
        ->type_name("ID");
    app.add_flag("--list-rules", options->list, "list the ids of all findings");
    app.add_flag("--json", options->json, "print the findings as one JSON document");
    return [options](System& system) { return run_lint_script(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
