// SPDX-License-Identifier: MIT
// The rank sheet of a launch: who sits where, then what the options and the framework add.
#pragma once

#include "launch/frameworks/framework.hpp"
#include "launch/launchers/launcher.hpp"
#include "launch/plan/launch_job.hpp"
#include "launch/plan/launch_options.hpp"
#include "launch/rank/exports.hpp"
#include "launch/rank/rank_sheet.hpp"

namespace ddlrun::cli {

// Who sits where, of whichever kind the job is; nothing more.
launch::RankSheet job_sheet(const LaunchJob& job);

// Adds to the job's sheet who binds, what --memory and --gpu-view say, and the framework's groups; its view
// of the GPUs gives way to --gpu-view, both give way to an exported CUDA_VISIBLE_DEVICES. Remarks are the
// job's.
void settle_sheet(const LaunchOptions& options, const launch::Exports& exports, launch::LauncherKind launcher,
                  const frameworks::FrameworkPlan& framework, launch::RankSheet& sheet, LaunchJob& job);

}  // namespace ddlrun::cli
