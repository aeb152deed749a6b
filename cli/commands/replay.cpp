// SPDX-License-Identifier: MIT
// `ddlrun replay`: a run's plan, options and program once more, in a new run folder that names the old one.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/launch_flags.hpp"
#include "launch/history/machine_diff.hpp"
#include "launch/history/run_store.hpp"
#include "launch/plan/job_framework.hpp"
#include "launch/plan/job_shape.hpp"
#include "launch/plan/select_launcher.hpp"
#include "launch/run/launch.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ddlrun::cli {

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

void tell_replay(System& system, const std::string& what) { system.err("ddlrun: " + what + "\n"); }

void tell_version(System& system, const std::string& of, const std::string& then, const std::string& now) {
  if (then != now) tell_replay(system, fmt::format("{} is another: {} then, {} now", of, then, now));
}

LaunchOptions parse_typed(const run_report::RunDocument& run, const std::string& folder) {
  LaunchOptions options;
  CLI::App app;
  add_launch_options(app, options);
  std::vector<std::string> words = run.captured_arguments;
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::request,
                {fmt::format("this ddlrun does not take the options of that run: {}",
                             printable(std::string_view(error.what()), 160)),
                 folder, "head -1 " + quote_shell(folder + "/argv") + "   # what it ran"});
  }
  options.program = run.typed_program;
  options.is_typed = true;
  options.words = run.captured_arguments;
  options.replay_of = run.id;
  options.run_folder.clear();  // a new one
  resolve_hosts(options);
  if (!run.dims.empty()) {
    resolve_positionals(options);
    options.framework.wants_result = !options.framework.np.empty();
    options.framework.np.clear();
    options.dims = run.dims;
    options.accelerators = options.nodes = options.racks = options.aisles = "";
  }
  if (!options.rankfile.empty()) options.rankfile = folder + "/rankfile";  // theirs may have changed
  return options;
}

void add_program_words(LaunchOptions& options, const std::vector<std::string>& more) {
  if (options.program.empty() && !more.empty() && !more[0].starts_with('-')) {
    throw Error(ErrorKind::usage, {fmt::format("'{}' would be another program", printable(more[0], 60)),
                                   "behind --", "options of the program only; else ddlrun launch"});
  }
  options.program.insert(options.program.end(), more.begin(), more.end());
}

// -x of now in the place of the same name's then.
void add_exports(LaunchOptions& options, const std::vector<std::string>& typed) {
  for (const std::string& word : typed) {
    const std::string name = word.substr(0, word.find('='));
    std::erase_if(options.exports, [&](const std::string& then) { return then == name; });
    options.exports.push_back(word);
    bool known = false;
    for (std::size_t i = 0; i + 1 < options.words.size(); ++i)
      known = known || (options.words[i] == "-x" && options.words[i + 1] == name);
    if (!known) options.words.insert(options.words.begin(), {"-x", name});
  }
}

void check_can_replay(const System& system, const run_report::RunDocument& run, const std::string& folder) {
  if (!run.is_typed) {
    throw Error(
        ErrorKind::request,
        {"this run does not tell how it was asked for: another command, or an older ddlrun, started it",
         folder, "head -1 " + quote_shell(folder + "/argv") + "   # what it ran"});
  }
  const std::string& here = system.environment.working_folder;
  if (run.working_folder != here) {
    const std::string path = system.environment.absolute(folder);
    throw Error(
        ErrorKind::request,
        {fmt::format("that run stood in {}, this is {}", printable(run.working_folder), printable(here)),
         folder,
         fmt::format("cd {} && ddlrun replay {}", quote_shell(run.working_folder), quote_shell(path))});
  }
}

// What the run rests on is looked at once before; launch says again what there is to say.
void check_plan(System& system, const run_report::RunDocument& run, const std::string& folder,
                LaunchOptions& options) {
  const ChosenLauncher launcher = select_launcher(system, options);
  tell_version(system, launcher.program, run.mpirun_version, launcher.version.text);
  tell_version(system, "ddlrun", run.ddlrun_version, DDLRUN_VERSION);
  System quiet = system;
  quiet.err = [](std::string_view) {};
  const JobPlan job = plan_job_ranks(quiet, options, rankfile_major(launcher.version));
  check_same_machines(system, run, folder, job);
  const std::string then = system.files.read(folder + "/rankfile", rankfile::max_rankfile_bytes);
  if (!same_ranks(then, job.rankfile_text)) {
    options.rankfile = folder + "/rankfile";
    tell_replay(system, "this ddlrun would place the ranks elsewhere: the run's own rankfile is used");
  }
  for (const std::string& change : export_changes(run, options.exports, system.environment))
    tell_replay(system, change);
}

int run_replay(System& system, const ReplayOptions& wanted) {
  std::string named = find_run_folder(system, wanted.run);
  while (named.size() > 1 && named.ends_with('/')) named.pop_back();
  const std::string folder = find_first_start(system, named);
  const run_report::RunDocument run = read_run(system, folder, false);
  check_can_replay(system, run, folder);
  LaunchOptions options = parse_typed(run, folder);
  add_program_words(options, wanted.more);
  add_exports(options, wanted.exports);
  options.dry_run = wanted.dry_run;
  if (folder != named)
    tell_replay(system, fmt::format("{} went on from {}, the first start", wanted.run, run.id));
  tell_replay(system, fmt::format("run {} once more", run.id));
  check_plan(system, run, folder, options);
  return run_launch_command(system, options);
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
    app.add_option("RUN", options->run, "a run id or its beginning, a run directory, or last")->required();
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
