// SPDX-License-Identifier: MIT
// Tries ways to make sums in the first steps and keeps the fastest. Pure bookkeeping: all ranks make the same
// calls, so all try the same way in the same step. Which way is kept does not change a bit of the result.
#pragma once

#include "runtime/training/buckets.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace ddlrun::runtime {

class WayTuner {
 public:
  // `ways`: at least one; a single one is not tried.
  explicit WayTuner(std::vector<SumWay> ways);

  const SumWay& way() const { return ways_[current_]; }
  bool settled() const { return settled_; }
  // Whether another way comes behind this step, or the ranks agree: then nothing must be left of its sums.
  bool turn_ends() const;
  // After each step: what it took this rank. True once all ways have been tried: then the ranks agree.
  bool add(double seconds);
  // This rank's median of each way.
  std::vector<float> medians() const;
  // The medians of all ranks, added up.
  void settle(std::span<const float> sums);

 private:
  std::vector<SumWay> ways_;
  std::vector<std::vector<double>> seconds_;
  std::size_t steps_ = 0;
  std::size_t current_ = 0;
  std::size_t in_turn_ = 0;  // steps done in the turn of the current way
  bool settled_;
};

}  // namespace ddlrun::runtime
