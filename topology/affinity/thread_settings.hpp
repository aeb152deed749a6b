// SPDX-License-Identifier: MIT
// The thread settings of a rank: which variables put its OpenMP threads on the cores of the plan, for the
// runtime that its program links.
#pragma once

#include "base/os/system.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::affinity {

// Which OpenMP runtime a program brings. none: no OpenMP seen; unknown: not readable (a script, a static
// binary): settings that are right for both.
enum class OpenMpRuntime { none, unknown, libgomp, libomp };  // libomp: LLVM's, Intel's libiomp5
std::string_view name_of(OpenMpRuntime runtime);

// From the names of the libraries that a program needs, its own and theirs.
OpenMpRuntime runtime_of(const std::vector<std::string>& libraries);

struct ThreadRequest {
  OpenMpRuntime runtime = OpenMpRuntime::unknown;
  std::uint32_t threads = 0;           // OpenMP threads of the rank; 0: one per core of its own
  std::uint32_t cores = 0;             // cores of the rank, from the plan; where ranks differ, the fewest
  std::uint32_t most_cores = 0;        // of the largest rank; 0: all are equal
  std::uint32_t room = 0;              // the most cores that each rank could get; 0: unknown
  std::uint32_t threads_per_core = 1;  // hardware threads
  bool oversubscribed = false;         // more runnable threads than cores on the host
  bool verbose = false;                // KMP_SETTINGS, OMP_DISPLAY_ENV
  bool bound = true;                   // the rank's process is bound to its cores by the launcher
  std::string launcher;                // "open-mpi", "intel-mpi", "srun", ...: I_MPI_PIN_DOMAIN
  bool tensorflow = false;             // TF_NUM_INTRAOP_THREADS, TF_NUM_INTEROP_THREADS
};

struct ThreadVariable {
  std::string name;
  std::string value;
  std::string why;
};

// What to set, with the reason of each. What the user's environment holds already is left out, unless it
// contradicts; then it is a warning in `remarks`.
struct ThreadSettings {
  std::vector<ThreadVariable> variables;
  std::vector<std::string> remarks;
};
ThreadSettings plan_thread_settings(const ThreadRequest& request, const EnvVars& environment);

}  // namespace ddlrun::affinity
