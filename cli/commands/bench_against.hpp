// SPDX-License-Identifier: MIT
// `ddlrun bench allreduce --against`: what was typed, and its run.
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/launch_flags.hpp"

#include <string>
#include <vector>

namespace ddlrun::cli {

struct AgainstCommand {
  std::string choice;                     // "all" or paths of mpirun
  launch::LaunchFlags launch;             // its program: options of ddl-bench
  std::vector<std::string> launch_words;  // the options of launch that were given
  std::string json;
  int repeat = 1;
  int cores = 1;  // of this host
};

// The options of ddl-bench with an own --json: the document would be written by each run.
bool writes_json_itself(const std::vector<std::string>& bench_words);

// 0, or 1 if an element was wrong. Throws Error.
int run_bench_against(System& system, const AgainstCommand& command);

}  // namespace ddlrun::cli
