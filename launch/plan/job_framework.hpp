// SPDX-License-Identifier: MIT
// A launch and its program's framework: found out before the plan is made, planned once it is.
#pragma once

#include "base/os/system.hpp"
#include "launch/frameworks/framework.hpp"
#include "launch/launchers/open_mpi.hpp"
#include "launch/plan/job_network.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/plan/launch_spec.hpp"

namespace ddlrun::launch {

// `rank_map`: job_rank_map() of the job.
frameworks::FrameworkPlan plan_launch_framework(System& system, const LaunchSpec& spec, const JobPlan& job,
                                                const RankMap& rank_map, const Exports& exports,
                                                const Command& program, const JobNetwork& network,
                                                LauncherKind launcher);

// The name among those exported, and why: instead of what was said of it before.
void add_export(Exports& exports, const std::string& name, const std::string& why);

// Its shared variables among the exports, its remarks among the job's.
void add_framework(const frameworks::FrameworkPlan& plan, Exports& exports);

// What differs from rank to rank, for --dry-run: one reason a variable or argument.
void add_rank_reasons(const frameworks::FrameworkPlan& plan, LaunchCommand& line);

}  // namespace ddlrun::launch
