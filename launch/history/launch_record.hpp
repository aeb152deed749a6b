// SPDX-License-Identifier: MIT
// What the run folder tells beyond the start itself: for `history`, `replay` and `report`.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/run_record.hpp"
#include "launch/plan/job_network.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/plan/launch_options.hpp"
#include "launch/rank/exports.hpp"

namespace ddlrun::cli {

void add_launch_facts(System& system, const LaunchOptions& options, const JobPlan& job,
                      const launch::Exports& exports, const JobNetwork& network, launch::RunRecord& record);

// Of the values that nobody keeps secret: PATH, LD_LIBRARY_PATH, and what ddlrun set itself.
std::map<std::string, std::string> export_digests(const Environment& environment,
                                                  const launch::Exports& exports);

// A small file of the system's; "" where there is none.
std::string read_if_there(System& system, const std::string& path);

// The process that runs `pid`: started_ticks 0 where there is none.
launch::RunProcess read_run_process(System& system, const std::string& pid);

}  // namespace ddlrun::cli
