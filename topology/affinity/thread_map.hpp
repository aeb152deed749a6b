// SPDX-License-Identifier: MIT
// Where an OpenMP runtime puts the threads of one process: a model of LLVM's (Intel's) and GNU's rules for a
// regular machine, pure, so that a linter can report what a setting costs. tests/differential/affinity holds
// it against the real runtimes.
#pragma once

#include "base/os/system.hpp"
#include "topology/affinity/thread_settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::affinity {

// A regular machine. Processors are numbered as Linux does: thread t of core c is t * cores() + c.
struct ThreadMachine {
  std::uint32_t packages = 1, cores_per_package = 1, threads_per_core = 1;

  std::uint32_t cores() const { return packages * cores_per_package; }
  std::uint32_t processors() const { return cores() * threads_per_core; }
};

struct ThreadMapRequest {
  ThreadMachine machine;
  std::vector<int> mask;  // processors of the process, ascending; empty: all
  OpenMpRuntime runtime = OpenMpRuntime::libgomp;
  EnvVars variables;          // KMP_AFFINITY, KMP_HW_SUBSET, OMP_PLACES, OMP_PROC_BIND, OMP_NUM_THREADS
  std::uint32_t threads = 0;  // 0: OMP_NUM_THREADS, else one per processor of the mask
};

struct ThreadMap {
  bool bound = false;                        // false: each thread may run on the whole mask
  std::vector<std::vector<int>> processors;  // by thread, ascending
  std::uint32_t distinct_cores = 0;          // that get a thread
  std::uint32_t most_on_a_core = 0;          // threads on the fullest core
};

// Nothing where a setting is not modelled: explicit lists, places other than threads, cores, sockets, and
// what the runtime would drop.
std::optional<ThreadMap> map_threads(const ThreadMapRequest& request);

// The first number of OMP_NUM_THREADS ("4,2" for nested regions); nothing if there is none.
std::optional<std::uint32_t> threads_of(const EnvVars& variables);

}  // namespace ddlrun::affinity
