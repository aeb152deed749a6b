// SPDX-License-Identifier: MIT
#include "cli/launch_run.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "topology/machine_json.hpp"
#include "topology/plan_json.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>

namespace ddlrun::cli {

namespace {

using launch::PlacementCount;
using launch::PlacementRow;
using launch::PlacementWatch;

std::string state_folder(const Environment& environment) {
  const std::string xdg = environment.get("XDG_STATE_HOME");
  if (xdg.starts_with('/')) return xdg + "/ddlrun/runs";
  const std::string home = environment.get("HOME");
  if (home.starts_with('/')) return home + "/.local/state/ddlrun/runs";
  throw Error(ErrorKind::request,
              {"there is no place for the run folder: neither XDG_STATE_HOME nor HOME is set", "environment",
               "--run-folder ./run"});
}

void write_inputs(System& system, const LaunchRun& run) {
  const auto write = [&](const std::string& name, std::string_view bytes) {
    system.files.write(run.folder + "/" + name, bytes);
  };
  write("rankfile", run.job.rankfile_text);
  write("argv", launch::render_argv_file(run.line.argv, launch::render_launch_line(run.line, run.exports)));
  write("argv.nul", launch::render_argv_nul(run.line.argv));
  write("environment", launch::render_environment_names(system.environment.variables, run.exports));
  if (run.job.plan) write("plan.json", topology::render_plan_json(*run.job.plan));
  const auto& machines = run.job.machines.machines;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    write(fmt::format("topology-{}.json", i), topology::render_machine_json(machines[i]));
  }
  write("run.json", launch::render_run_json(run.record));
}

std::string first_that_is_not_ok(const std::vector<PlacementRow>& rows) {
  for (const PlacementRow& row : rows) {
    if (row.verdict == launch::PlaceVerdict::ok) continue;
    return fmt::format("rank {} on {}: {}", row.planned.rank, row.found ? row.found->host : row.planned.host,
                       row.why);
  }
  return {};
}

void tell_places(System& system, const LaunchRun& run, const std::vector<PlacementRow>& rows) {
  const PlacementCount count = launch::count_verdicts(rows);
  system.err("ddlrun: each rank's place, as planned and as found:\n" + launch::render_placement_table(rows));
  if (count.differs + count.silent == 0) return;
  const std::string what =
      count.differs > 0
          ? fmt::format("{} of {} ranks are NOT where they were planned", count.differs, rows.size())
          : fmt::format("{} of {} ranks never told their place", count.silent, rows.size());
  system.err(render_message("ddlrun", run.strict ? "error" : "warning",
                            {what, first_that_is_not_ok(rows), run.differs_hint}));
}

// After the end: who never reported, unless all have and the table was shown.
void tell_silent(System& system, const LaunchRun& run, const std::vector<PlacementRow>& rows) {
  if (launch::count_verdicts(rows).silent < rows.size()) return tell_places(system, run, rows);
  system.err(fmt::format("ddlrun: none of {} ranks told its place: they were not started\n", rows.size()));
}

ProcessResult run_watched(System& system, const LaunchRun& run, PlacementWatch& watch) {
  bool told = false;
  const auto& pass = system.program_err ? system.program_err : system.err;
  const LineSink sink = [&](std::string_view line) {
    const std::string rest = watch.take_line(line);
    if (!rest.empty()) pass(rest);
    if (told || !watch.complete()) return;
    told = true;
    tell_places(system, run, watch.rows());
  };
  ProcessResult result = system.processes.run_attached(run.line.argv, run.line.environment, sink);
  if (!told && result.start_error.empty()) tell_silent(system, run, watch.rows());
  return result;
}

void check_started(const ProcessResult& result, const std::string& mpirun) {
  if (result.start_error.empty()) return;
  throw Error(ErrorKind::request,
              {fmt::format("{} cannot be started: {}", printable(mpirun, 120), result.start_error), "",
               "apt-get install openmpi-bin; or name it with --mpirun FILE"});
}

// mpirun says 1 when a signal told it to stop; people expect 128 + that signal.
int status_of(const ProcessResult& result) {
  const std::array ending{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  const bool told_to_stop = std::find(ending.begin(), ending.end(), result.passed_on) != ending.end();
  return told_to_stop && result.exit_status == 1 ? 128 + result.passed_on : result.exit_status;
}

// The last word: how it ended, and where everything about it lies.
void tell_end(System& system, const LaunchRun& run, const ProcessResult& result) {
  const int status = status_of(result);
  std::string how = "ended well";
  if (result.passed_on != 0)
    how = fmt::format("was told to stop by signal {}", result.passed_on);
  else if (status > 128)
    how = fmt::format("ended by signal {} (status {})", status - 128, status);
  else if (status != 0)
    how = fmt::format("ended with status {}", status);
  system.err(fmt::format("ddlrun: the job {}; run folder {}\n", how, run.folder));
}

bool all_are_ok(const std::vector<PlacementRow>& rows) {
  return launch::count_verdicts(rows).ok == rows.size();
}

}  // namespace

std::string choose_run_folder(System& system, const std::string& wanted, bool create) {
  if (!wanted.empty()) {
    if (system.files.exists(wanted + "/run.json")) {
      throw Error(ErrorKind::request, {"the run folder holds another run, which is not overwritten", wanted,
                                       "another --run-folder, or none: then each run gets its own"});
    }
    if (create) system.files.make_folders(wanted);
    return wanted;
  }
  const std::string base = state_folder(system.environment);
  const std::string prefix = base + "/" + launch::render_time_for_names(system.clock.now()) + "-";
  if (!create) return prefix + "new";
  system.files.make_folders(base);
  return system.files.make_folder(prefix);
}

int run_launch(System& system, LaunchRun run) {
  PlacementWatch watch(run.job.ranks, run.token);
  run.record.placement = watch.rows();
  run.record.verified = false;
  write_inputs(system, run);
  const bool verify = !run.token.empty();
  const ProcessResult result =
      verify ? run_watched(system, run, watch)
             : system.processes.run_attached(run.line.argv, run.line.environment, nullptr);
  run.record.verified = verify;
  run.record.placement = watch.rows();
  run.record.end = launch::RunEnd{system.clock.now(), status_of(result), result.signal};
  system.files.write(run.folder + "/run.json", launch::render_run_json(run.record));
  check_started(result, run.line.argv[0]);
  tell_end(system, run, result);
  if (run.strict && verify && result.exit_status == 0 && !all_are_ok(run.record.placement)) return 1;
  return status_of(result);
}

}  // namespace ddlrun::cli
