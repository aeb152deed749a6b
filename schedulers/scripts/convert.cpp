// SPDX-License-Identifier: MIT
#include "schedulers/scripts/convert.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/scripts/convert_body.hpp"
#include "schedulers/scripts/launch_step.hpp"
#include "schedulers/scripts/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::job_scripts {

namespace {

constexpr std::string_view begin_mark = "# >>> ddlrun convert";
constexpr std::string_view end_mark = "# <<< ddlrun convert";

std::string_view sentinel_of(Dialect dialect) { return dialect == Dialect::slurm ? "#SBATCH" : "#PBS"; }

bool runs(const JobScript& script, std::initializer_list<std::string_view> names) {
  for (const ScriptLine& line : script.body)
    for (const ShellCommand& command : parse_commands(line))
      if (std::find(names.begin(), names.end(), command.name()) != names.end()) return true;
  return false;
}

// The first line, and why it is another than before.
std::string choose_shebang(const JobScript& script, const ResourceRequest& request, Dialect to,
                           std::vector<Unsupported>& unsupported) {
  std::string first = script.shebang;
  if (first.empty() && !request.shell.empty()) first = "#!" + request.shell;
  if (first.empty()) {
    first = "#!/bin/bash";
    unsupported.push_back(
        {1, "no #! line",
         "PBS would use the login shell, Slurm would reject the script: #!/bin/bash is added"});
  }
  const bool plain_shell = first == "#!/bin/sh" || first == "#! /bin/sh" || first == "#!/usr/bin/sh";
  const bool needs_bash = runs(script, {"module", "source", "[[", "conda", "ml", "declare", "pushd"});
  const bool needs_login = to == Dialect::slurm && runs(script, {"module", "ml", "conda"});
  if (plain_shell && needs_bash) {
    unsupported.push_back(
        {1, script.shebang, "\"source\" and \"module\" need bash: where /bin/sh is dash they are not found"});
    first = "#!/bin/bash";
  }
  if (needs_login && (first == "#!/bin/bash" || first == "#!/usr/bin/bash")) {
    unsupported.push_back({1, script.shebang,
                           "PBS starts a login shell, Slurm does not: -l starts one, so that "
                           "\"module\" exists"});
    first += " -l";
  }
  return first;
}

// Lines that are not carried over: directives, and what an earlier conversion put in.
std::set<int> find_dropped_lines(const JobScript& script, std::vector<Unsupported>& unsupported) {
  std::set<int> dropped;
  if (!script.shebang.empty()) dropped.insert(1);
  for (const Directive& directive : script.directives) dropped.insert(directive.line);
  for (const Directive& directive : script.ignored_directives) {
    if (dropped.insert(directive.line).second)
      unsupported.push_back({directive.line, script.lines[static_cast<std::size_t>(directive.line) - 1],
                             "not read by the scheduler that the script was for: left out"});
  }
  bool inside = false;
  for (std::size_t i = 0; i < script.lines.size(); ++i) {
    const std::string_view line = script.lines[i];
    inside = inside || line.starts_with(begin_mark);
    if (inside) dropped.insert(static_cast<int>(i) + 1);
    if (line.starts_with(end_mark)) inside = false;
  }
  return dropped;
}

// Without the lines that an earlier conversion made.
JobScript without_marked_lines(const JobScript& script) {
  std::string text;
  bool inside = false;
  for (const std::string& line : script.lines) {
    if (line.starts_with(begin_mark)) inside = true;
    if (!inside) text += line;
    text += '\n';
    if (line.starts_with(end_mark)) inside = false;
  }
  return parse_job_script(text, script.file);
}

const std::string& site_default(const templates::SiteProfile& site, std::string_view key) {
  static const std::string none;
  for (const auto& [name, value] : site.defaults)
    if (name == key) return value.text;
  return none;
}

// The longest walltime that the profile names for any queue; 0: none.
std::uint64_t longest_walltime(const templates::SiteProfile& site) {
  std::uint64_t most = site.walltime_most_seconds;
  for (const auto& [name, seconds] : site.queue_walltimes) most = std::max(most, seconds);
  return most;
}

// Resources of the request that the centre lacks by its profile.
void report_misfits(const templates::SiteProfile& site, const ResourceRequest& request,
                    std::vector<Unsupported>& unsupported) {
  const auto& queues = site.queue_walltimes;
  const bool known = std::any_of(queues.begin(), queues.end(),
                                 [&](const auto& queue) { return queue.first == request.queue; });
  const std::string& usual = site_default(site, "queue");
  if (!known && !queues.empty() && !request.queue.empty() && request.queue != usual)
    unsupported.push_back({0, "queue " + request.queue,
                           fmt::format("the profile of {} names no such queue: {}", site.name,
                                       usual.empty() ? queues.front().first : usual)});
  const std::uint64_t most = known || queues.empty() || request.queue.empty()
                                 ? walltime_limit(site, request.queue)
                                 : longest_walltime(site);
  if (most > 0 && request.walltime_seconds > most)
    unsupported.push_back({0, "walltime " + render_time(request.walltime_seconds),
                           fmt::format("{} allows {} at most", site.name, render_time(most)), true});
  const auto cores = parse_unsigned(site_default(site, "cores_per_node"), max_count).value_or(0);
  const bool no_gpus = cores > 0 && site_default(site, "gpus").empty();  // its node is described
  std::uint64_t most_cores = 0, gpus = 0;
  for (const Chunk& chunk : request.chunks) {
    most_cores = std::max(most_cores, chunk.cores);
    gpus = std::max(gpus, chunk.gpus);
  }
  if (no_gpus && gpus > 0)
    unsupported.push_back({0, fmt::format("{} GPU{} of each node", gpus, gpus == 1 ? "" : "s"),
                           fmt::format("{} has none by its profile ({})", site.name, site.title), true});
  if (cores > 0 && most_cores > cores)
    unsupported.push_back({0, fmt::format("{} cores of each node", most_cores),
                           fmt::format("a node of {} has {}", site.name, cores), true});
}

// What the centre wants of each job.
void apply_site(const templates::SiteProfile& site, Dialect to, ResourceRequest& request,
                std::vector<std::string>& directives, std::vector<Unsupported>& unsupported) {
  const std::string& carried = site.application_directive;
  const std::string code = to == Dialect::slurm ? request.account : request.comment;
  if (!carried.empty() && !code.empty() && carried.find("{}") != std::string::npos) {
    std::string directive = carried;
    directive.replace(directive.find("{}"), 2, code);
    directives.push_back(directive);
    (to == Dialect::slurm ? request.account : request.comment).clear();
    unsupported.push_back({0, code, fmt::format("{} carries the application as {}", site.name, directive)});
  }
  // Where the application has the account's place, what is an account stays only if nothing else claims it.
  const bool in_place = to == Dialect::pbs && carried.starts_with("-A");
  if (in_place && !request.account.empty()) {
    const std::string was = request.account;
    if (!code.empty()) request.account.clear();
    unsupported.push_back(
        {0, was,
         fmt::format("{} carries the application as {}, and no account: {}", site.name, carried,
                     code.empty() ? "put the application's name in its place" : "left out")});
  }
  directives.insert(directives.end(), site.directives.begin(), site.directives.end());
  report_misfits(site, request, unsupported);
  for (const std::string& path : site.submit_below)
    unsupported.push_back(
        {0, "submission", fmt::format("{} starts jobs only from below {}", site.name, path)});
}

// Facts that a translation cannot have.
void report_names(const ResourceRequest& request, Dialect to, const templates::SiteProfile* site,
                  std::vector<Unsupported>& unsupported) {
  const char* other = to == Dialect::slurm ? "sinfo -s lists the partitions" : "qstat -Q lists the queues";
  if (!request.queue.empty())
    unsupported.push_back({0, "queue " + request.queue, fmt::format("the name is kept: {}", other)});
  const bool application = site != nullptr && site->application_directive.starts_with("-A");
  if (!request.account.empty() && !(application && to == Dialect::pbs))
    unsupported.push_back({0, "account " + request.account,
                           site != nullptr
                               ? "the name is kept"
                               : "the name is kept; some centres want the name of the application "
                                 "there (--site NAME does that)"});
  if (to == Dialect::slurm && request.exported == Export::unspecified)
    unsupported.push_back(
        {0, "no -V",
         "PBS gives a job the environment of a login; Slurm passes that of the shell that submits "
         "(a login environment: --export=NONE and \"unset SLURM_EXPORT_ENV\")"});
  if (to == Dialect::pbs && request.exported == Export::all)
    unsupported.push_back(
        {0, "-V", "the whole environment is passed to the job, and qstat -f shows it, including passwords"});
  if (to == Dialect::pbs && request.exported == Export::unspecified)
    unsupported.push_back(
        {0, "no --export",
         "Slurm passes the environment of the shell that submits, PBS does not: -v NAME,NAME for "
         "what the job needs"});
  if (to == Dialect::slurm && request.output.empty())
    unsupported.push_back(
        {0, "no -o",
         "PBS writes NAME.oNUMBER when the job has ended, Slurm while it runs; the same names "
         "are requested"});
}

std::string one_line(const std::string& text) {
  std::string result = printable(text, 300);
  return result;
}

std::string render_unsupported(const Unsupported& item) {
  const std::string where = item.line > 0 ? fmt::format("line {}: ", item.line) : "";
  return fmt::format("{}{}: {}", where, one_line(item.text), one_line(item.why));
}

void sort_unsupported(std::vector<Unsupported>& unsupported) {
  std::stable_sort(unsupported.begin(), unsupported.end(), [](const Unsupported& a, const Unsupported& b) {
    return (a.line == 0 ? INT32_MAX : a.line) < (b.line == 0 ? INT32_MAX : b.line);
  });
}

void move_in(std::vector<Unsupported>& into, const std::vector<Unsupported>& from) {
  into.insert(into.end(), from.begin(), from.end());
}

}  // namespace

void refuse_own_script(const JobScript& script, const std::string& instead) {
  for (const std::string& line : script.lines)
    if (line.starts_with("# Written by ddlrun submit"))
      throw Error(ErrorKind::request, {"it was written by ddlrun submit", script.file, instead});
}

Conversion convert_script(const JobScript& given, Dialect to, const templates::SiteProfile* site) {
  refuse_own_script(given, fmt::format("ddlrun submit --{} --job DIR/ddlrun.yaml --dry-run",
                                       to == Dialect::slurm ? "slurm" : "pbs"));
  const JobScript script = without_marked_lines(given);
  if (script.dialect == Dialect::none)
    throw Error(ErrorKind::request, {"this file has no #PBS and no #SBATCH line", script.file,
                                     "ddlrun convert job.sh, with a script for PBS or Slurm"});
  if (script.dialect == to)
    throw Error(
        ErrorKind::request,
        {fmt::format("it is a {} script already", to == Dialect::slurm ? "Slurm" : "PBS"), script.file,
         fmt::format("--to {}; for another centre with {}: --to ddlrun.yaml, then ddlrun submit --site NAME",
                     to == Dialect::slurm ? "pbs" : "slurm", to == Dialect::slurm ? "Slurm" : "PBS")});
  Conversion result;
  std::vector<Unsupported>& unsupported = result.unsupported;
  ResourceRequest request = read_request(with_step_requests(script, unsupported));
  std::vector<std::string> site_directives;
  if (site != nullptr) apply_site(*site, to, request, site_directives, unsupported);
  if (given.has_carriage_returns) unsupported.push_back({1, "CR LF", "DOS line ends: replaced by LF"});
  const std::string shebang = choose_shebang(script, request, to, unsupported);
  const std::set<int> dropped = find_dropped_lines(given, unsupported);
  const RenderedRequest rendered =
      to == Dialect::slurm ? render_slurm_request(request) : render_pbs_request(request);
  const BodyChange change =
      to == Dialect::slurm ? change_body_to_slurm(script, request) : change_body_to_pbs(script, request);
  const auto prepared = to == Dialect::slurm ? prepare_for_slurm(script, request, change)
                                             : prepare_for_pbs(script, request, change);
  move_in(unsupported, request.unsupported);
  move_in(unsupported, rendered.unsupported);
  move_in(unsupported, change.unsupported);
  report_names(request, to, site, unsupported);
  sort_unsupported(unsupported);

  std::string& text = result.text;
  text = shebang + "\n";
  for (const std::string& directive : rendered.directives)
    text += fmt::format("{} {}\n", sentinel_of(to), directive);
  for (const std::string& directive : site_directives)
    text += fmt::format("{} {}\n", sentinel_of(to), directive);
  text += fmt::format("{}: what changes, and what is left out\n", begin_mark);
  for (const Unsupported& item : unsupported) text += "#   " + render_unsupported(item) + "\n";
  for (const std::string& line : prepared) text += line + "\n";
  if (site != nullptr)
    for (const std::string& line : site->preamble) text += line + "\n";
  text += std::string(end_mark) + "\n";
  const auto lines = apply_edits(script.lines, change.edits);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (!dropped.contains(static_cast<int>(i) + 1)) text += lines[i] + "\n";
  return result;
}

}  // namespace ddlrun::job_scripts
