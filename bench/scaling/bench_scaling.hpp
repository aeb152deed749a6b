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
  bool cores_given = false;  // --cores-per-rank is among launch_options
  int repeat = 1;            // the fastest counts; the runs take turns
};

Command scaling_command(const Environment& environment, const ScalingRequest& request, const ScalingRun& run);

// Throws Error(request) with the end of a run's messages if it fails.
bench_report::Scaling run_scaling(System& system, const ScalingRequest& request);

}  // namespace ddlrun::bench_report
