// SPDX-License-Identifier: MIT
// The threads of each rank: how many, and for which OpenMP runtime, seen in the program's own libraries.
#pragma once

#include "affinity/thread_settings.hpp"
#include "base/doors.hpp"
#include "cli/launch_job.hpp"
#include "cli/launch_options.hpp"

#include <string>
#include <vector>

namespace ddlrun::cli {

// Reads the program's file, never runs it. A script, an interpreter or a wrapper is unknown.
affinity::OpenMpRuntime find_openmp_runtime(System& system, const Command& program);

// From --threads and --affinity. What people should know is added to job.remarks. Error{usage} for a bad
// value.
affinity::ThreadRequest plan_rank_threads(System& system, const LaunchOptions& options, LaunchJob& job,
                                          const Command& program);

}  // namespace ddlrun::cli
