// SPDX-License-Identifier: MIT
// Measures a step and a network, each by `ddlrun launch` in a child.
#pragma once

#include "base/os/system.hpp"
#include "bench/predict/measured_sums.hpp"
#include "bench/predict/profile.hpp"

#include <string>
#include <vector>

namespace ddlrun::bench_predict {

struct MeasureRequest {
  int ranks_a_host = 1;
  int cores_a_rank = 1;
  bool cores_given = false;                 // --cores-per-rank is among launch_options
  std::vector<std::string> launch_options;  // as words
  std::vector<std::string> trainer_words;
};

// The user's words behind "--", and a fixed number of steps where none is given. Throws Error(usage) for a
// program, and for options that bench predict sets itself.
std::vector<std::string> predict_trainer_words(const std::vector<std::string>& given);

// One rank alone; then, if a host has several, all of them with their sums after each step.
std::vector<Command> profile_commands(const Environment& environment, const MeasureRequest& request,
                                      const std::string& directory);
// On this host. Throws Error(request) with the end of a run's messages if it fails.
StepProfile measure_profile(System& system, const MeasureRequest& request);

// Sums of one rank a host.
Command network_command(const Environment& environment, const std::vector<std::string>& hosts,
                        const std::vector<std::string>& launch_options, const std::string& ddl_bench);
MeasuredSums measure_network(System& system, const Command& command);

}  // namespace ddlrun::bench_predict
