// SPDX-License-Identifier: MIT
#include "launch/history/launch_record.hpp"

#include "base/process/process_stat.hpp"
#include "base/text/text.hpp"

#include <algorithm>

namespace ddlrun::launch {

namespace {

std::string render_output(const OutputSpec& spec) {
  const char* mode = spec.mode == OutputSpec::Mode::prefix  ? "prefix"
                     : spec.mode == OutputSpec::Mode::files ? "files"
                                                            : "screen";
  return std::string(mode) + (spec.tee ? " tee" : "");
}

const char* verdict_name(PlaceVerdict verdict) {
  return verdict == PlaceVerdict::ok ? "ok" : verdict == PlaceVerdict::differs ? "differs" : "silent";
}

}  // namespace

std::string find_job_id(const Environment& environment) {
  const std::string array = environment.get("SLURM_ARRAY_JOB_ID"),
                    task = environment.get("SLURM_ARRAY_TASK_ID");
  // SLURM_JOB_ID of a task is a number that squeue and sacct do not show.
  if (!array.empty() && !task.empty() && environment.get("DDLRUN_JOB_ID").empty()) return array + "_" + task;
  for (const char* name : {"DDLRUN_JOB_ID", "SLURM_JOB_ID", "PBS_JOBID"}) {
    if (const std::string id = environment.get(name); !id.empty()) return id;
  }
  return {};
}

std::string read_if_there(System& system, const std::string& path) {
  const auto part = system.files.read_from(path, 0, 0);
  return part ? std::string(trim(system.files.read(path, 1 << 16))) : std::string();
}

RunProcess read_run_process(System& system, const std::string& pid) {
  RunProcess process;
  const auto stat = parse_process_stat(read_if_there(system, "/proc/" + pid + "/stat"));
  if (!stat || stat->state == 'Z') return process;
  process.pid = stat->pid;
  process.started_ticks = stat->started_ticks;
  process.boot = read_if_there(system, "/proc/sys/kernel/random/boot_id");
  return process;
}

std::map<std::string, std::string> export_digests(const Environment& environment, const Exports& exports) {
  std::map<std::string, std::string> digests;
  for (const std::string& name : exports.names) {
    const bool is_public = name == "PATH" || name == "LD_LIBRARY_PATH";
    if (is_public && exports.set_by_user.count(name) == 0)
      digests[name] = render_digest(environment.get(name));
  }
  for (const auto& [name, value] : exports.set_by_us) digests[name] = render_digest(value);
  return digests;
}

RunRecord make_run_record(System& system, const LaunchSpec& spec, const LaunchPlan& plan,
                          const std::string& run_dir) {
  const SelectedLauncher& launcher = plan.placed.launcher;
  const JobPlan& job = plan.placed.job;
  const Exports& exports = plan.environment.exports;
  RunRecord record;
  record.id = base_name(run_dir);
  record.ddlrun_version = DDLRUN_VERSION;
  record.mpirun = launcher.program;
  record.mpirun_version = launcher.version.text;
  record.launcher = name_of(launcher.version.kind);
  record.kernel = read_if_there(system, "/proc/sys/kernel/osrelease");
  record.host = system.environment.host_name;
  record.workdir = system.environment.workdir;
  if (job.plan) record.dims = topology::render_dims(job.plan->dims);
  record.program = plan.program.program.command;
  record.exported = exports.names;
  record.process = read_run_process(system, "self");
  if (spec.origin.is_typed) {
    record.typed = TypedLaunch{spec.origin.captured_arguments,
                               spec.restart.number == 0 ? spec.program : spec.restart.first_program};
  }
  record.replay_of = spec.origin.replay_of;
  record.restart_of = spec.restart.restart_of;
  record.restarts = spec.restart.number;
  record.job = find_job_id(system.environment);
  record.output = render_output(spec.output);
  record.hosts = job.hosts;
  record.machine_of_host = job.machines.machine_of_host;
  record.network = plan.environment.network.remark;
  record.remarks = plan.remarks();
  record.findings = job.findings;
  record.reasons = exports.reasons;
  record.digests = export_digests(system.environment, exports);
  const auto now = system.clock.now();
  record.start = render_time(now);
  record.start_us = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  return record;
}

std::vector<RunRank> record_ranks(const std::vector<PlacementRow>& placement, bool verified,
                                  const std::optional<MonitorRecord>& monitored) {
  std::vector<RunRank> ranks;
  ranks.reserve(placement.size());
  for (const PlacementRow& row : placement) {
    RunRank& rank = ranks.emplace_back();
    rank.rank = row.planned.rank;
    rank.local_rank = row.planned.local_rank;
    rank.host = row.planned.host;
    rank.slot = row.planned.slot;
    rank.planned_pus = render_ranges(row.planned.pus);
    if (monitored) {
      const auto end = monitored->ends.find(rank.rank);
      if (end != monitored->ends.end()) rank.exit_status = end->second;
    }
    if (!verified) continue;
    if (row.found) {
      rank.found_host = row.found->host;
      rank.found_pus = render_ranges(row.found->pus);
    }
    rank.verdict = verdict_name(row.verdict);
    rank.why = row.why;
  }
  return ranks;
}

RunMonitoring record_monitoring(const MonitorRecord& monitored, int status) {
  RunMonitoring watched;
  if (const auto first = find_first_failure(monitored, status))
    watched.first_failure = RunFailure{first->rank,           first->host,        first->exit_status,
                                       first->signal,         first->start_error, describe_absence(*first),
                                       monitored.failed_with, monitored.alike,    monitored.differ};
  for (const RankReport& report : monitored.stalls) {
    watched.stalls.push_back({report.rank, report.host, report.stall.seconds,
                              std::string(1, report.stall.state), report.stall.pid, report.stall.name});
  }
  watched.silent_hosts = monitored.silent_hosts;
  watched.lost_hosts = monitored.lost_hosts;
  watched.stall = monitored.stall;
  if (!watched.stall.empty()) watched.stall_severity = monitored.stall_severity;
  return watched;
}

}  // namespace ddlrun::launch
