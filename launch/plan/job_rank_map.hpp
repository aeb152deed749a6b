// SPDX-License-Identifier: MIT
// The rank map of a launch: the places of the plan, then the settings of the options and of the framework.
#pragma once

#include "launch/frameworks/framework.hpp"
#include "launch/launchers/launcher.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/plan/launch_spec.hpp"
#include "launch/rank/exports.hpp"
#include "launch/rank/rank_map.hpp"

namespace ddlrun::launch {

// Who sits where, of whichever kind the job is; nothing more.
RankMap job_rank_map(const JobPlan& job);

// Adds to the job's rank map who binds, what --mem-bind and --visible-gpus say, and the framework's groups;
// its view of the GPUs gives way to --visible-gpus, both give way to an exported CUDA_VISIBLE_DEVICES.
// Remarks are the job's.
void complete_rank_map(const PlacementSpec& spec, const Exports& exports, LauncherKind launcher,
                       const frameworks::FrameworkPlan& framework, RankMap& rank_map,
                       std::vector<std::string>& remarks);

}  // namespace ddlrun::launch
