// SPDX-License-Identifier: MIT
// The record of a run, for `history`, `replay` and `report`.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/run_record.hpp"
#include "launch/monitor/placement_check.hpp"
#include "launch/monitor/rank_monitor.hpp"
#include "launch/plan/launch_plan.hpp"
#include "launch/rank/exports.hpp"

namespace ddlrun::launch {

// All that is known of the run before its ranks start.
RunRecord make_run_record(System& system, const LaunchSpec& spec, const LaunchPlan& plan,
                          const std::string& run_dir);

// The ranks as run.json lists them: places that were found only where they were `verified`, statuses only
// where the ranks were `monitored`.
std::vector<RunRank> record_ranks(const std::vector<PlacementRow>& placement, bool verified,
                                  const std::optional<MonitorRecord>& monitored);

// `status`: that of the job, which decides what failed first.
RunMonitoring record_monitoring(const MonitorRecord& monitored, int status);

// Digests of values that are not secret: PATH, LD_LIBRARY_PATH, and what ddlrun set itself.
std::map<std::string, std::string> export_digests(const Environment& environment, const Exports& exports);

// The id of the scheduler's job around this process: of ddlrun submit, else of Slurm (of an array 9_1) or PBS; or "".
std::string find_job_id(const Environment& environment);

// A small file of the system's; "" where there is none.
std::string read_if_there(System& system, const std::string& path);

// The process that runs `pid`: started_ticks 0 where there is none.
RunProcess read_run_process(System& system, const std::string& pid);

}  // namespace ddlrun::launch
