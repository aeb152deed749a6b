// SPDX-License-Identifier: MIT
// `ddlrun bench scaling`: the runs of the plan, each by `ddlrun launch` in a child, and what they say
// together.
#pragma once

#include "base/os/system.hpp"
#include "bench/scaling/bench_plan.hpp"
#include "bench/scaling/scaling.hpp"

#include <string>
#include <vector>

namespace ddlrun::bench_report {

struct ScalingRequest {
  ScalingPlan plan;
  std::vector<std::string> hosts;           // empty: this one
  std::vector<std::string> launch_options;  // as words
  std::vector<std::string> trainer_words;
  std::vector<std::string> given_words;  // those of them that the user typed
  bool cores_given = false;              // --cores-per-rank is among launch_options
  int repeat = 1;                        // the fastest counts; the runs take turns
};

Command scaling_command(const Environment& environment, const ScalingRequest& request, const ScalingRun& run);

// Runs it to its end. Throws Error(request) if it fails, after the end of its messages. `name`: for people.
ProcessResult run_bench_child(System& system, const Command& command, const std::string& name);

// Throws Error(request) with the end of a run's messages if it fails.
bench_report::Scaling run_scaling(System& system, ScalingRequest request);

}  // namespace ddlrun::bench_report
