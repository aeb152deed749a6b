// SPDX-License-Identifier: MIT
// A training step on several hosts: the passes of one rank beside the sums of its communication thread, as
// runtime/training/gradient_reducer.hpp orders them. Pure.
#pragma once

#include "bench/predict/profile.hpp"
#include "bench/predict/sum_model.hpp"

#include <string>

namespace ddlrun::bench_predict {

// What a step would be.
struct StepForecast {
  double step_ms = 0.0;
  double exposed_ms = 0.0;  // the rank waits for sums
  // All sums of the step, overlapped or not, by what they take.
  double wire_ms = 0.0;
  double latency_ms = 0.0;
  double messages_ms = 0.0;
  double host_ms = 0.0;  // additions within the host
  std::string schedule;  // ProfileSchedule::text
};

// With one schedule. `slower`: a factor on all computing.
StepForecast simulate_step(const StepProfile& profile, const ProfileSchedule& schedule, const SumShape& shape,
                           const Network& network, double slower = 1.0);

// With the schedule that ddl-train would keep: the fastest; the first unless another is 2 % faster
// (runtime/training/schedule_trials.cpp).
StepForecast forecast_step(const StepProfile& profile, const SumShape& shape, const Network& network,
                           double slower = 1.0);

}  // namespace ddlrun::bench_predict
