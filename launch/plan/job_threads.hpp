// SPDX-License-Identifier: MIT
// The threads of each rank: how many, and for which OpenMP runtime, seen in the program's own libraries.
#pragma once

#include "base/os/system.hpp"
#include "launch/launchers/launcher.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/plan/launch_spec.hpp"
#include "launch/plan/linked_libraries.hpp"
#include "topology/affinity/thread_settings.hpp"

#include <string>
#include <vector>

namespace ddlrun::launch {

affinity::OpenMpRuntime find_openmp_runtime(const ProgramLibraries& libraries);

// From --threads and --affinity. What people should know is added to job.remarks. Error{usage} for a bad
// value.
affinity::ThreadRequest plan_rank_threads(const LaunchSpec& spec, LauncherKind launcher, const JobPlan& job,
                                          const Command& program, const ProgramLibraries& libraries,
                                          std::vector<std::string>& remarks);

}  // namespace ddlrun::launch
