// SPDX-License-Identifier: MIT
// What is wrong with the thread variables that somebody wrote by hand: in a job script, in a shell.
#pragma once

#include "base/os/system.hpp"
#include "topology/affinity/thread_map.hpp"
#include "topology/affinity/thread_settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::affinity {

enum class AffinitySeverity { error, warning, note };

// What is known about the job around the variables; 0, "" and false: not known.
struct ThreadEnvironment {
  EnvVars variables;
  OpenMpRuntime runtime = OpenMpRuntime::unknown;
  ThreadMachine machine{0, 0, 0};    // a node: packages, cores, hardware threads
  bool siblings_known = true;        // false: the machine's threads_per_core is a guess
  std::uint32_t ranks_per_node = 0;  // mpiprocs, ntasks-per-node
  std::uint32_t ompthreads = 0;      // of a PBS request: sets OMP_NUM_THREADS, unless the script does
  std::uint32_t cpus_per_chunk = 0;  // of a PBS request: ncpus, what OMP_NUM_THREADS is without ompthreads
  std::uint32_t cores_reserved = 0;  // for communication and input
  bool rankfile = false;             // mpirun gets a rankfile
  bool numactl = false;              // or taskset, before the program
};

struct AffinityFinding {
  std::string id;  // "kmp-trailing", ...: affinity_rules() lists them
  AffinitySeverity severity = AffinitySeverity::warning;
  std::string variable;  // whose line is to blame; "" : the request itself
  std::string what;      // the fact with both numbers
  std::string hint;      // something to type
  // The variables after the mend: NAME, value; "" to leave it out. Empty where there is no single one.
  std::vector<std::pair<std::string, std::string>> mend;
};

// Findings in the order of the rules, each rule at most once a variable.
std::vector<AffinityFinding> check_thread_environment(const ThreadEnvironment& environment);

struct AffinityRule {
  std::string_view id, summary;
};
const std::vector<AffinityRule>& affinity_rules();

}  // namespace ddlrun::affinity
