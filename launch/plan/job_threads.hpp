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

// The ranks of a launch on hosts that are not known yet. 0 cores: not known.
struct ExpectedRanks {
  int fewest_cores = 0, most_cores = 0;  // of one rank
  std::uint32_t threads_per_core = 1;
};
// The variables of OpenMP, MKL and TensorFlow that such ranks would get.
struct ExpectedThreads {
  affinity::OpenMpRuntime runtime = affinity::OpenMpRuntime::unknown;
  std::vector<std::string> variables;  // NAME=value
};
// `environment` is that of the launch.
ExpectedThreads expect_threads(System& system, const LaunchSpec& spec, const ExpectedRanks& ranks,
                               const EnvVars& environment);

}  // namespace ddlrun::launch
