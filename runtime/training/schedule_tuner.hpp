// SPDX-License-Identifier: MIT
// Tries schedules to make sums in the first steps and keeps the fastest. Pure bookkeeping: all ranks make the
// same calls, so all try the same schedule in the same step. Which schedule is kept does not change a bit of
// the result.
#pragma once

#include "runtime/training/buckets.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace ddlrun::runtime {

class ScheduleTuner {
 public:
  // `schedules`: at least one; a single one is not tried.
  explicit ScheduleTuner(std::vector<ReduceSchedule> schedules);

  const ReduceSchedule& schedule() const { return schedules_[current_]; }
  bool decided() const { return decided_; }
  // Whether another schedule comes behind this step, or the ranks agree: then nothing must be left of its
  // sums.
  bool turn_ends() const;
  // After each step: what it took this rank. True once all schedules have been tried: then the ranks agree.
  bool add(double seconds);
  // This rank's median of each schedule.
  std::vector<float> medians() const;
  // The medians of all ranks, added up.
  void decide(std::span<const float> sums);

 private:
  std::vector<ReduceSchedule> schedules_;
  std::vector<std::vector<double>> seconds_;
  std::size_t steps_ = 0;
  std::size_t current_ = 0;
  std::size_t in_turn_ = 0;  // steps done in the turn of the current schedule
  bool decided_;
};

}  // namespace ddlrun::runtime
