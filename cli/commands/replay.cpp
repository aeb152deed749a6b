// SPDX-License-Identifier: MIT
// `ddlrun replay`: a run's plan, options and program once more, in a new run directory that names the old
// one.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/launch_flags.hpp"
#include "cli/run_ids.hpp"
#include "launch/history/launch_record.hpp"
#include "launch/history/machine_diff.hpp"
#include "launch/history/run_store.hpp"
#include "launch/plan/job_framework.hpp"
#include "launch/plan/job_shape.hpp"
#include "launch/plan/plan_job_ranks.hpp"
#include "launch/plan/select_launcher.hpp"
#include "launch/run/launch.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ddlrun::cli {

using namespace launch;
using namespace topology;

namespace {

constexpr std::string_view replay_examples = R"(  ddlrun replay last                # the same run again
  ddlrun replay last --dry-run      # print the command only
  ddlrun replay 20261121-03 -- --epochs 9   # append arguments to the program's
  ddlrun replay last -x TOKEN=...   # repeat a value given by -x NAME=VALUE: ddlrun does not store it)";

constexpr std::string_view replay_notes =
    R"(replay uses the rankfile of the run. It exports the same variables with their present values. A run that
was restarted is repeated from its first start. replay fails if hosts or machines differ; it warns if
mpirun or ddlrun differ.)";

struct ReplayOptions {
  std::string run;
  bool dry_run = false;
  std::vector<std::string> exports;
  std::vector<std::string> more;
};

void print_replay(System& system, const std::string& what) { system.err("ddlrun: " + what + "\n"); }

void print_version_change(System& system, const std::string& of, const std::string& then,
                          const std::string& now) {
  if (then != now) print_replay(system, fmt::format("{} has changed: {} then, {} now", of, then, now));
}

LaunchFlags parse_typed(const RunRecord& run, const std::string& run_dir) {
  LaunchFlags flags;
  CLI::App app;
  add_launch_options(app, flags);
  std::vector<std::string> words = run.typed->words;
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::request,
                {fmt::format("this ddlrun does not take the options of that run: {}",
                             printable(std::string_view(error.what()), 160)),
                 run_dir, "head -1 " + quote_shell(run_dir + "/argv") + "   # what it ran"});
  }
  flags.program = run.typed->program;
  flags.origin = {true, run.typed->words, run.id};
  flags.run_dir.clear();                                                // a new one
  if (!flags.rankfile.empty()) flags.rankfile = run_dir + "/rankfile";  // the typed file may have changed
  return flags;
}

void add_program_words(LaunchFlags& flags, const std::vector<std::string>& more) {
  if (flags.program.empty() && !more.empty() && !more[0].starts_with('-')) {
    throw Error(ErrorKind::usage,
                {fmt::format("replay cannot change the program to '{}'", printable(more[0], 60)), "after --",
                 "options of the program only; else ddlrun launch"});
  }
  flags.program.insert(flags.program.end(), more.begin(), more.end());
}

// A new -x replaces the recorded one of the same name.
void add_exports(LaunchFlags& flags, const std::vector<std::string>& typed) {
  std::vector<std::string>& words = flags.origin.captured_arguments;
  for (const std::string& word : typed) {
    const std::string name = word.substr(0, word.find('='));
    std::erase(flags.exports, name);
    flags.exports.push_back(word);
    bool known = false;
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      known = known || (words[i] == "-x" && words[i + 1] == name);
    if (!known) words.insert(words.begin(), {"-x", name});
  }
}

// Its hosts were those of a job that is over.
void check_not_in_job(const System& system, const RunRecord& run, const std::string& directory) {
  const bool in_job = !find_job_id(system.environment).empty();
  if (run.job.empty() || in_job || run.host == system.environment.host_name) return;
  throw Error(ErrorKind::request,
              {fmt::format("that run belongs to job {}, whose hosts are given back", printable(run.job, 80)),
               directory, "ddlrun resubmit " + quote_shell(run.job) + "; or replay inside a new allocation"});
}

// The job counted its starts for the program; a replay is a first start.
std::vector<std::string> exports_for_job(const System& system, const RunRecord& run,
                                         std::vector<std::string> exports) {
  const std::string count = "DDLRUN_RESTART_COUNT";
  if (!run.job.empty() && system.environment.get(count).empty())
    exports.insert(exports.begin(), count + "=0");
  return exports;
}

void check_can_replay(const System& system, const RunRecord& run, const std::string& directory) {
  check_not_in_job(system, run, directory);
  if (!run.typed) {
    throw Error(ErrorKind::request,
                {"this run has no recorded command line: another command or an older ddlrun started it",
                 directory, "head -1 " + quote_shell(directory + "/argv") + "   # what it ran"});
  }
  const std::string& here = system.environment.workdir;
  if (run.workdir != here) {
    const std::string path = system.environment.absolute(directory);
    throw Error(
        ErrorKind::request,
        {fmt::format("that run was started in {}, this is {}", printable(run.workdir), printable(here)),
         directory, fmt::format("cd {} && ddlrun replay {}", quote_shell(run.workdir), quote_shell(path))});
  }
}

// The spec to replay: with the run's own rankfile where this ddlrun would place ranks elsewhere. Reports
// changes.
LaunchSpec check_plan(System& system, const RunRecord& run, const std::string& run_dir, LaunchSpec spec) {
  const SelectedLauncher launcher = select_launcher(system, spec.launcher);
  print_version_change(system, launcher.program, run.mpirun_version, launcher.version.text);
  print_version_change(system, "ddlrun", run.ddlrun_version, DDLRUN_VERSION);
  System quiet = system;
  quiet.err = [](std::string_view) {};
  const JobPlan job = plan_job_ranks(
      quiet, spec, rankfile_major(launcher.version),
      find_host_path(launcher.version.kind, spec.launcher.words, system.environment.variables));
  check_same_machines(system, run, run_dir, job);
  const std::string then = system.files.read(run_dir + "/rankfile", rankfile::max_rankfile_bytes);
  if (!same_ranks(then, job.rankfile_text)) {
    spec.shape.rankfile = run_dir + "/rankfile";
    print_replay(system, "this ddlrun would place the ranks elsewhere: the run's own rankfile is used");
  }
  for (const std::string& change : export_changes(run, spec.exports, system.environment))
    print_replay(system, change);
  return spec;
}

int run_replay(System& system, const ReplayOptions& wanted) {
  std::string named = find_run_or_job(system, wanted.run, "ddlrun replay");
  while (named.size() > 1 && named.ends_with('/')) named.pop_back();
  const std::string directory = find_original_run(system, named);
  const RunRecord run = read_run(system, directory, false);
  check_can_replay(system, run, directory);
  LaunchFlags flags = parse_typed(run, directory);
  add_program_words(flags, wanted.more);
  add_exports(flags, exports_for_job(system, run, wanted.exports));
  flags.dry_run = wanted.dry_run;
  LaunchSpec spec = resolve_launch_spec(system, flags);
  if (!run.dims.empty()) spec = with_dims(std::move(spec), topology::parse_dims(run.dims));
  if (directory != named)
    print_replay(system, fmt::format("{} was restarted from {}, the first start", wanted.run, run.id));
  print_replay(system, fmt::format("run {} once more", run.id));
  return run_launch_spec(system, check_plan(system, run, directory, std::move(spec)));
}

}  // namespace

Subcommand replay_command() {
  Subcommand command;
  command.name = "replay";
  command.summary = "start a run again with the same plan, options and program";
  command.examples = replay_examples;
  command.notes = replay_notes;
  command.takes_program = true;
  command.is_launch = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>& rest) -> Run {
    auto options = std::make_shared<ReplayOptions>();
    options->more = rest;
    app.add_option("RUN", options->run,
                   "a run id or its beginning, the id of a job (2, 9_1), a run directory, or last")
        ->required();
    app.add_flag("--dry-run", options->dry_run,
                 "print the plan and the command as a script; run and write nothing");
    app.add_option("-x", options->exports, "export VAR, or set and export VAR=value, as in launch")
        ->type_name("VAR[=VALUE]")
        ->allow_extra_args(false);
    return [options](System& system) { return run_replay(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
