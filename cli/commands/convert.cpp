// SPDX-License-Identifier: MIT
#include "job_scripts/convert.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands/commands.hpp"
#include "job_scripts/lint.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace ddlrun::cli {

namespace {

struct ConvertOptions {
  std::string file, to, site;
};

job_scripts::Dialect parse_target(const std::string& text) {
  if (text == "slurm") return job_scripts::Dialect::slurm;
  if (text == "pbs") return job_scripts::Dialect::pbs;
  throw Error(ErrorKind::usage,
              {text.empty() ? "--to is missing"
                            : fmt::format("--to takes slurm or pbs, not \"{}\"", printable(text, 40)),
               "--to", "ddlrun convert job.pbs --to slurm > job.sh"});
}

// Each on a line of its own, "FILE:LINE: what: why".
std::string render_list(const std::string& file, const std::vector<job_scripts::Leftover>& leftovers) {
  std::string text;
  for (const auto& leftover : leftovers) {
    const std::string place = leftover.line > 0 ? fmt::format("{}:{}", file, leftover.line) : file;
    text += fmt::format("{}: {}: {}\n", place, printable(leftover.text), printable(leftover.why, 400));
  }
  if (!leftovers.empty())
    text += fmt::format("ddlrun: {} thing{} not carried over as written; the script has them as comments\n",
                        leftovers.size(), leftovers.size() == 1 ? "" : "s");
  return text;
}

// Mistakes that came along from the old script; nothing if there is none.
std::string render_errors_left(const ConvertOptions& options, const std::string& text,
                               const templates::SiteProfile* site) {
  job_scripts::LintContext context;
  context.site = site;
  const auto findings = job_scripts::lint_script(job_scripts::parse_job_script(text, "-"), context);
  const auto errors = std::count_if(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.severity == job_scripts::Severity::error;
  });
  if (errors == 0) return "";
  const std::string at = site == nullptr ? "" : " --site " + quote_shell(options.site);
  return fmt::format("ddlrun: the new script still has {} error{}: ddlrun lint-script -{} < SCRIPT\n", errors,
                     errors == 1 ? "" : "s", at);
}

int run_convert(System& system, const ConvertOptions& options) {
  if (options.file.empty())
    throw Error(ErrorKind::usage, {"no script given", "", "ddlrun convert job.pbs --to slurm > job.sh"});
  const job_scripts::Dialect to = parse_target(options.to);
  std::optional<templates::SiteProfile> site;
  if (!options.site.empty())
    site = templates::load_profile(
        options.site, [&](const std::string& path) { return system.files.read(path, 1u << 20); });
  const auto script = job_scripts::parse_job_script(
      system.files.read(options.file, job_scripts::max_script_bytes), options.file);
  const auto conversion = job_scripts::convert_script(script, to, site ? &*site : nullptr);
  system.out(conversion.text);
  system.err(render_list(options.file, conversion.leftovers) +
             render_errors_left(options, conversion.text, site ? &*site : nullptr));
  return 0;
}

}  // namespace

Subcommand convert_command() {
  Subcommand command;
  command.name = "convert";
  command.summary = "a PBS script for Slurm, or the other way; what cannot be carried over is said";
  command.examples =
      "  ddlrun convert job.pbs --to slurm > job.sh\n"
      "  ddlrun convert job.sh --to pbs --site kisti-nurion > job.pbs";
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<ConvertOptions>();
    app.add_option("FILE", options->file, "the script; - for stdin");
    app.add_option("--to", options->to, "slurm or pbs");
    app.add_option("--site", options->site,
                   "the centre that the new script is for: a profile's name or file");
    return [options](System& system) { return run_convert(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
