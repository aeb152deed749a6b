// SPDX-License-Identifier: MIT
#include "schedulers/scripts/convert.hpp"

#include "base/text/error.hpp"
#include "base/text/printable_path.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "launch/frameworks/launcher_options.hpp"
#include "launch/frameworks/nested_launcher.hpp"
#include "schedulers/client/job_file_check.hpp"
#include "schedulers/client/site_files.hpp"
#include "schedulers/job/job_settings_text.hpp"
#include "schedulers/scripts/convert_to_job_file.hpp"
#include "schedulers/scripts/lint.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>

namespace ddlrun::cli {

namespace {

struct ConvertOptions {
  std::string file, to, site, output;
};

// A file with the script's bytes is the script, or a link to it.
void refuse_to_replace(System& system, const ConvertOptions& options, const std::string& script) {
  if (options.output.empty() || options.output == "-") return;
  const auto there = system.files.read_from(options.output, 0, script.size() + 1);
  if (!there || there->bytes != script) return;
  throw Error(ErrorKind::usage, {"the output would replace the script", "--output " + options.output,
                                 "-o " + printable_path(quote_shell(options.output + ".new"))});
}

void write_output(System& system, const ConvertOptions& options, const std::string& text) {
  if (options.output.empty() || options.output == "-") return system.out(text);
  system.files.write(options.output, text);
  system.err(fmt::format("ddlrun: wrote {}\n", printable(options.output, 200)));
}

job_scripts::Dialect parse_target(const std::string& text) {
  if (text == "slurm") return job_scripts::Dialect::slurm;
  if (text == "pbs") return job_scripts::Dialect::pbs;
  throw Error(
      ErrorKind::usage,
      {text.empty() ? "--to is missing"
                    : fmt::format("--to must be slurm, pbs or ddlrun.yaml, not \"{}\"", printable(text, 40)),
       "--to", "--to slurm, --to pbs, or --to ddlrun.yaml, which `ddlrun submit` reads"});
}

// Each on a line of its own, "FILE:LINE: what: why".
std::string render_list(const std::string& file, const std::vector<job_scripts::Unsupported>& unsupported) {
  std::string text;
  for (const auto& item : unsupported) {
    const std::string place =
        item.line > 0 ? fmt::format("{}:{}", printable_path(file), item.line) : printable_path(file);
    text += fmt::format("{}: {}: {}\n", place, printable(item.text), printable(item.why, 400));
  }
  if (!unsupported.empty())
    text += fmt::format("ddlrun: {} note{} on what changes; the output has them as comments\n",
                        unsupported.size(), unsupported.size() == 1 ? "" : "s");
  return text;
}

// Where the new file needs a person: ": line 4, line 9, environment"; "" where it needs none.
std::string render_places_to_edit(const std::vector<job_scripts::Unsupported>& unsupported) {
  std::vector<std::string> places;
  std::set<std::string> named;
  for (const auto& item : unsupported) {
    if (!item.wrong) continue;
    std::string place = item.line > 0 ? fmt::format("line {}", item.line)
                                      : printable(item.text.substr(0, item.text.find(':')), 60);
    if (named.insert(place).second) places.push_back(std::move(place));
  }
  return places.empty() ? "" : ": " + join(places, ", ");
}

constexpr std::size_t max_errors_shown = 3;

// Errors of the script itself, so far as no conversion mends them: what starts the ranks stays as it was.
std::vector<job_scripts::Finding> find_old_errors(const job_scripts::JobScript& script) {
  constexpr std::array<std::string_view, 9> mended{"shebang-missing",
                                                   "shebang-not-first",
                                                   "bash-under-sh",
                                                   "crlf",
                                                   "web-page-remains",
                                                   "cd-to-home",
                                                   "launcher-of-other-scheduler",
                                                   "array-not-rerunable",
                                                   "signal-untrapped"};
  auto findings = job_scripts::lint_script(script, {});
  std::erase_if(findings, [&](const job_scripts::Finding& finding) {
    return finding.severity != job_scripts::Severity::error ||
           std::ranges::find(mended, finding.id) != mended.end();
  });
  return findings;
}

std::string render_old_errors(const std::string& file, const std::vector<job_scripts::Finding>& errors) {
  if (errors.empty()) return "";
  std::string text = fmt::format("ddlrun: the old script has {} error{}: ddlrun lint-script {}\n",
                                 errors.size(), errors.size() == 1 ? "" : "s",
                                 file == "-" ? "- < SCRIPT" : printable_path(quote_shell(file)));
  for (std::size_t i = 0; i < std::min(errors.size(), max_errors_shown); ++i)
    text += fmt::format("  line {}: {}\n", errors[i].place.line, printable(errors[i].what, 400));
  return text;
}

// Mistakes that came along from the old script, or that nothing could be made of; nothing if there is none.
std::string render_errors_left(const ConvertOptions& options, const std::string& text,
                               const templates::SiteProfile* site) {
  job_scripts::LintContext context;
  context.site = site;
  std::size_t errors = 0;
  std::string lines;
  for (const auto& finding : job_scripts::lint_script(job_scripts::parse_job_script(text, "-"), context)) {
    if (finding.severity != job_scripts::Severity::error || ++errors > max_errors_shown) continue;
    lines += fmt::format("  line {}: {}\n", finding.place.line, printable(finding.what, 400));
  }
  if (errors == 0) return "";
  const std::string at = site == nullptr ? "" : " --site " + printable_path(quote_shell(options.site));
  const bool is_file = !options.output.empty() && options.output != "-";
  return fmt::format("ddlrun: the new script still has {} error{}: ddlrun lint-script {}{}{}\n{}", errors,
                     errors == 1 ? "" : "s", is_file ? printable_path(quote_shell(options.output)) : "-", at,
                     is_file ? "" : " < SCRIPT", lines);
}

// Without what `submit` would reject. Each removed setting, and each that a site wants, is added to the
// report.
void check_job_file(System& system, const std::string& script, job_scripts::JobFile& file) {
  try {
    const auto rejections = schedulers::remove_rejected(system, file.settings);
    for (const auto& removed : rejections.removed)
      file.unsupported.push_back(
          {0, removed.key + ": " + removed.value,
           fmt::format("left out: {}; try: {}", removed.error.what, removed.error.hint), true});
    for (const Message& wanted : rejections.wanted)
      file.unsupported.push_back(
          {0, "site", fmt::format("{}, and submit asks for it; add {}", wanted.what, wanted.hint), true});
  } catch (const Error& error) {
    const Message& message = error.message();
    throw Error(error.kind(), {"no job file from this script: " + message.what, script, message.hint});
  }
}

std::optional<Command> unwrap_launcher(const Command& command) {
  const auto nested = frameworks::find_nested_launcher(command);
  return nested ? std::optional(nested->program) : std::nullopt;
}

job_scripts::LauncherOptions sort_options(const Command& command) {
  const auto nested = frameworks::find_nested_launcher(command);
  if (!nested) return {};
  auto [variables, left_out, unknown] = frameworks::sort_launcher_options(*nested);
  return {std::move(variables), std::move(left_out), std::move(unknown)};
}

// A profile in a file is named by its whole path, so that `submit` finds it from anywhere.
std::string site_in_job_file(const System& system, const std::string& word) {
  const bool is_file = word.find('/') != std::string::npos || word.ends_with(".yaml");
  return is_file ? system.environment.absolute(word) : word;
}

int convert_to_job_file(System& system, const ConvertOptions& options, const job_scripts::JobScript& script,
                        const templates::SiteProfile* site) {
  job_scripts::JobFile file = job_scripts::convert_to_job_file(script, site, unwrap_launcher, sort_options);
  if (site != nullptr)
    file.settings["site"] = schedulers::flag_setting("site", site_in_job_file(system, options.site), "site");
  check_job_file(system, options.file, file);
  std::string text = fmt::format("# From {} by ddlrun convert; to check: ddlrun submit --dry-run\n",
                                 printable(base_name(options.file), 100));
  for (const auto& item : file.unsupported)
    text += fmt::format("#   {}{}: {}\n", item.line > 0 ? fmt::format("line {}: ", item.line) : "",
                        printable(item.text, 200), printable(item.why, 300));
  write_output(system, options, text + schedulers::render_job_lines(file.settings));
  const std::string places = render_places_to_edit(file.unsupported);
  std::string report = render_list(options.file, file.unsupported);
  if (!places.empty())
    report +=
        fmt::format("ddlrun: edit the new file before you submit it, for what stood in {}{} (status 1)\n",
                    printable(base_name(options.file), 100), places);
  system.err(report);
  return places.empty() ? 0 : 1;
}

int run_convert(System& system, const ConvertOptions& options) {
  if (options.file.empty())
    throw Error(ErrorKind::usage, {"no script given", "", "ddlrun convert job.pbs --to slurm -o job.sh"});
  const bool to_job_file = options.to == "yaml" || options.to.ends_with(".yaml");
  const job_scripts::Dialect to = to_job_file ? job_scripts::Dialect::none : parse_target(options.to);
  std::optional<templates::SiteProfile> site;
  if (!options.site.empty()) site = schedulers::load_site(system, options.site);
  const std::string given = system.files.read(options.file, job_scripts::max_script_bytes);
  refuse_to_replace(system, options, given);
  const auto script = job_scripts::parse_job_script(given, options.file);
  job_scripts::refuse_outsized(script);
  if (to_job_file) return convert_to_job_file(system, options, script, site ? &*site : nullptr);
  const auto conversion = job_scripts::convert_script(script, to, site ? &*site : nullptr);
  write_output(system, options, conversion.text);
  const auto old_errors = find_old_errors(script);
  const std::string errors = render_errors_left(options, conversion.text, site ? &*site : nullptr);
  std::vector<job_scripts::Unsupported> wrong = conversion.unsupported;
  for (const auto& error : old_errors) wrong.push_back({error.place.line, error.what, error.hint, true});
  const std::string places = render_places_to_edit(wrong);
  std::string said = render_list(options.file, conversion.unsupported) +
                     render_old_errors(options.file, old_errors) + errors;
  const bool is_faulty = !places.empty() || !errors.empty();
  if (is_faulty)
    said += fmt::format(
        "ddlrun: do not submit the new script unchanged{}{} (status 1)\n",
        places.empty() ? "" : ", for what stood in " + printable(base_name(options.file), 100), places);
  system.err(said);
  return is_faulty ? 1 : 0;
}

}  // namespace

Subcommand convert_command() {
  Subcommand command;
  command.name = "convert";
  command.summary = "convert a job script to Slurm, to PBS or to a ddlrun.yaml";
  command.examples = R"(  ddlrun convert job.pbs --to slurm -o job.sh
  ddlrun convert job.sh --to pbs --site kisti-nurion > job.pbs
  ddlrun convert job.pbs --to ddlrun.yaml -o ddlrun.yaml   # then: ddlrun submit --dry-run)";
  command.notes =
      R"(convert reports each directive that it cannot convert. The exit status is 1 if the new script must not be
submitted unchanged.)";
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<ConvertOptions>();
    app.add_option("FILE", options->file, "the script; -: stdin");
    app.add_option("--to", options->to, "target: a scheduler, or a job file for ddlrun submit")
        ->type_name("slurm|pbs|ddlrun.yaml");
    app.add_option("-o,--output", options->output,
                   "the new script, written whole or not at all; default, and -: stdout")
        ->type_name("FILE");
    app.add_option("--site", options->site, "profile of the target centre: a name or a file")
        ->type_name("NAME|FILE");
    return [options](System& system) { return run_convert(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
