// SPDX-License-Identifier: MIT
// Tries reduce schedules in the first steps and keeps the fastest. Pure bookkeeping: all ranks make the same
// calls, so all try the same schedule in the same step. The choice does not change a bit of the result.
#pragma once

#include "runtime/training/buckets.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace ddlrun::runtime {

class ScheduleTuner {
 public:
  // `schedules`: at least one; a single one is used without a trial.
  explicit ScheduleTuner(std::vector<ReduceSchedule> schedules);

  const ReduceSchedule& schedule() const { return schedules_[current_]; }
  bool decided() const { return decided_; }
  // Whether the schedule changes after this step; then no reduction may still be in flight.
  bool turn_ends() const;
  // Adds the seconds of a step on this rank. Returns true once all schedules have been tried; then call
  // decide().
  bool add(double seconds);
  // This rank's median seconds of each schedule.
  std::vector<float> medians() const;
  // Chooses the schedule with the smallest sum of medians. `sums`: medians(), summed over all ranks.
  void decide(std::span<const float> sums);

 private:
  std::vector<ReduceSchedule> schedules_;
  std::vector<std::vector<double>> seconds_;
  std::size_t steps_ = 0;
  std::size_t current_ = 0;
  std::size_t in_turn_ = 0;  // steps with the current schedule
  bool decided_;
};

}  // namespace ddlrun::runtime
