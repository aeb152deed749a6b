// SPDX-License-Identifier: MIT
#include "launch/run/run_launch.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/signal_name.hpp"
#include "base/text/text.hpp"
#include "launch/history/launch_record.hpp"
#include "launch/launchers/launch_command.hpp"
#include "launch/monitor/monitor_record.hpp"
#include "launch/monitor/rank_files.hpp"
#include "launch/rank/status_line.hpp"
#include "launch/run/launch_monitor.hpp"
#include "launch/run/run_files.hpp"
#include "topology/machine_json.hpp"
#include "topology/plan_json.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

namespace ddlrun::launch {

namespace {

// How the launcher ended and what the monitor saw of its ranks.
struct ObservedRun {
  ProcessResult result;
  std::vector<PlacementRow> placement;
  std::optional<MonitorRecord> monitored;  // nothing without supervisors
};

void write_inputs(System& system, const LaunchRun& run, const std::string& result) {
  const JobPlan& job = run.plan.placed.job;
  const auto write = [&](const std::string& name, std::string_view bytes) {
    system.files.write(run.run_dir + "/" + name, bytes);
  };
  write("rankfile", job.rankfile_text);
  write("argv",
        render_argv_file(run.command.argv, render_launch_command(run.command, run.plan.environment.exports)));
  write("argv.nul", render_argv_nul(run.command.argv));
  write("environment", render_environment_names(system.environment.variables, run.plan.environment.exports));
  for (const LaunchFile& file : run.command.files) system.files.write(file.path, file.text);
  if (job.plan) write("plan.json", topology::render_plan_json(*job.plan));
  const auto& machines = job.machines.machines;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    write(fmt::format("topology-{}.json", i), topology::render_machine_json(machines[i]));
  }
  if (!result.empty()) system.files.append(result, "");  // mode 600
  write("run.json", render_run_json(run.record));
}

// An empty file is no result; the file of a failed job is kept but not recorded.
void record_result(System& system, const std::string& path, int status, RunRecord& record) {
  if (path.empty()) return;
  const auto part = system.files.read_from(path, 0, 0);
  if (!part || part->size == 0)
    system.files.remove(path);
  else if (status == 0)
    record.result = path;
}

void check_started(const ProcessResult& result, const std::string& program, LauncherKind launcher) {
  if (result.start_error.empty()) return;
  std::string hint = "apt-get install openmpi-bin; or name it with --mpirun FILE";
  if (result.guard_was_killed)
    hint = find_killer;
  else if (result.start_error != std::strerror(ENOENT))
    hint = fmt::format("ls -l {}; ulimit -u; free -m", quote_shell(program));
  else if (launcher == LauncherKind::srun || launcher == LauncherKind::ssh)
    hint = "command -v " + quote_shell(program);
  throw Error(
      ErrorKind::request,
      {fmt::format("{} cannot be started: {}", printable(program, 120), result.start_error), "", hint});
}

// Hydra mixes the statuses of its ranks into one number, srun takes the highest, which may be that of a rank
// it ended itself. Open MPI 5.0.7 may return the status of a rank that aborts because another was killed. The
// supervisors report that of the first.
std::optional<int> status_of_first(const ObservedRun& observed, LauncherKind launcher) {
  const ProcessResult& result = observed.result;
  if (result.exit_status == 0 || result.forwarded_signal != 0 || !observed.monitored) return std::nullopt;
  const auto& failure = observed.monitored->first_failure;
  const bool mixes = is_hydra(launcher) || launcher == LauncherKind::srun || (failure && failure->alone);
  if (!mixes) return std::nullopt;
  const auto& first = failure ? failure : observed.monitored->first_ended;
  return first ? std::optional<int>(first->exit_status) : std::nullopt;
}

// After a stop signal mpirun exits with 1 or another number; people expect 128 + that signal, or
// what all ranks said: 75 of those that saved and can go on.
int status_after_signal(const ObservedRun& observed, LauncherKind launcher) {
  const ProcessResult& result = observed.result;
  const auto& monitored = observed.monitored;
  const std::size_t ranks = observed.placement.size();
  const bool hydra = is_hydra(launcher);  // mixes its ranks' statuses, and may say 0 of any
  if (result.exit_status == 0 && (!hydra || (monitored && all_ended_well(*monitored, ranks)))) return 0;
  const auto common = monitored ? find_common_end(*monitored, ranks) : std::nullopt;
  if (common && !is_ended_by_launcher(*common)) return *common;
  // mpirun may crash on a signal while a rank fails: then the rank's status counts. A kill belongs to the
  // ending.
  const bool crashed = result.signal != 0;
  if (crashed && monitored && monitored->first_failure && monitored->first_failure->signal != SIGKILL)
    return monitored->first_failure->exit_status;
  const bool by_signal = result.exit_status == 1 || is_ended_by_launcher(result.exit_status);
  return by_signal || crashed || hydra ? 128 + result.forwarded_signal : result.exit_status;
}

int status_of_run(const ObservedRun& observed, LauncherKind launcher) {
  // The launcher got 0 of the ranks that saved.
  if (observed.monitored && all_saved(*observed.monitored, observed.placement.size())) return saved_status;
  const std::array ending{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  if (std::find(ending.begin(), ending.end(), observed.result.forwarded_signal) != ending.end())
    return status_after_signal(observed, launcher);
  return status_of_first(observed, launcher).value_or(observed.result.exit_status);
}

// The output of the rank that failed first is only in its file.
bool hides_first_failure(const LaunchRun& run) {
  const auto& watched = run.record.watched;
  return !run.spec.output.shows() && watched && watched->first_failure;
}

void print_first_log(System& system, const LaunchRun& run) {
  if (hides_first_failure(run))
    system.show(render_last_lines(system, run.run_dir, run.record.watched->first_failure->rank));
}

// Which rank failed first, how the job ended, and where its files are.
void print_end(System& system, const LaunchRun& run, const ObservedRun& observed,
               const LaunchMonitor& monitor, int status) {
  const int stop_signal = observed.result.forwarded_signal;
  const bool saved = status == saved_status;  // no failure
  if (observed.monitored && stop_signal == 0 && !saved) {
    const auto first = find_first_failure(*observed.monitored, status);
    const auto& lost = observed.monitored->lost_hosts;
    // Ranks that are ended because of a stall may fail meanwhile.
    if (first && observed.monitored->stall.empty() && !monitor.cause().trainer_refused)
      system.show("ddlrun: " + render_failure(*observed.monitored, *first) + "\n");
    if (!lost.empty()) system.show("ddlrun: " + render_lost_hosts(lost) + "\n");
  }
  if (!run.record.result.empty()) system.err("ddlrun: rank 0's result: " + run.record.result + "\n");
  std::string how = "ended well";
  if (saved && stop_signal != 0)
    how = fmt::format("saved after {}, and can go on (status {})", describe_signal(stop_signal), status);
  else if (stop_signal != 0)
    how = "was stopped by " + describe_signal(stop_signal);
  else if (saved)
    how = fmt::format("saved and can go on (status {})", status);
  else if (status > 128 && status <= 128 + 64)
    how = fmt::format("ended by signal {} (status {})", status - 128, status);
  else if (status != 0)
    how = fmt::format("ended with status {}", status);
  const std::string files =
      run.spec.output.writes_files() ? "; each rank's output: " + rank_file_directory(run.run_dir) : "";
  const std::string end = fmt::format("ddlrun: the job {}; run directory {}{}\n", how, run.run_dir, files);
  if (status == 0 || saved)
    system.err(end);
  else
    system.show(end);
}

// Adds the end to the record and writes it.
void record_end(System& system, ObservedRun& observed, LaunchMonitor& monitor, int status, LaunchRun& run) {
  RunRecord& record = run.record;
  try {
    if (status != saved_status) record.diagnosis = monitor.diagnosis(observed.result);
  } catch (const std::bad_alloc&) {
    system.err("ddlrun: warning: not enough memory to read why the job failed\n");
  }
  record.cause_is_known = monitor.cause().is_known;
  if (const auto& missed = monitor.cause().missed_rank; missed && observed.monitored)
    blame(*observed.monitored, *missed->rank, missed->host, monitor.cause().missed_stood_still);
  if (!monitor.cause().is_shared && observed.monitored) observed.monitored->failed_with.clear();
  if (monitor.cause().fails_alike && observed.monitored)
    observed.monitored->alike = static_cast<std::uint32_t>(record.rank_count);
  if (observed.monitored) observed.monitored->differ = monitor.cause().mismatched_ranks;
  record.verified = run.plan.program.verify;
  record.ranks = record_ranks(observed.placement, record.verified, observed.monitored);
  if (observed.monitored) record.watched = record_monitoring(*observed.monitored, status);
  if (status != 0) record.last_lines = monitor.last_lines();
  record.end = RunEnd{render_time(system.clock.now()), status,
                      status == observed.result.exit_status ? observed.result.signal : 0,
                      observed.result.forwarded_signal};
  try {
    system.files.write(run.run_dir + "/run.json", render_run_json(record));
  } catch (const Error& error) {
    // The job's own status counts: what follows it, such as afterok, must not see another.
    system.err(
        fmt::format("ddlrun: warning: the record of the run is not complete: {}\n", error.message().what));
  }
}

}  // namespace

LaunchEnd run_launch(System& system, LaunchRun run) {
  LaunchMonitor monitor(system, run);
  run.record.ranks = record_ranks(monitor.places(), false, std::nullopt);
  run.record.rank_count = run.record.ranks.size();
  const std::string result_file = result_path(system, run.plan, run.run_dir);
  write_inputs(system, run, result_file);
  system.err(run.start_text);
  ObservedRun observed;
  observed.result = monitor.result_of_job(
      system.processes.run_guarded(run.command.argv, run.command.environment, monitor.hooks()));
  const ProcessResult& result = observed.result;
  monitor.finish(result);
  observed.placement = monitor.places();
  observed.monitored = monitor.watched();
  const int status = monitor.status(result).value_or(status_of_run(observed, run.plan.placed.kind()));
  record_result(system, result_file, status, run.record);
  record_end(system, observed, monitor, status, run);
  check_started(result, run.command.argv[0], run.plan.placed.kind());
  const FailureCause& cause = monitor.cause();
  const bool shows_log = cause.is_known || cause.text.empty();  // else the text has those lines
  if (result.forwarded_signal == 0 && status != saved_status && shows_log) print_first_log(system, run);
  if (!run.record.diagnosis.empty() && !cause.was_printed)
    system.show((cause.is_known ? "ddlrun: what the output says:\n" : "ddlrun: no known failure matches:\n") +
                run.record.diagnosis);
  print_end(system, run, observed, monitor, status);
  const bool all_ok = count_verdicts(observed.placement).ok == observed.placement.size();
  LaunchEnd end{status, result.forwarded_signal, {}};
  if (observed.monitored) end.lost_hosts = observed.monitored->lost_hosts;
  if (run.spec.strict && run.plan.program.verify && status == 0 && !all_ok) end.status = 1;
  return end;
}

}  // namespace ddlrun::launch
