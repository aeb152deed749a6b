// SPDX-License-Identifier: MIT
// The learning rate of each step: how it grows with the ranks, warms up and decays. Pure arithmetic.
#pragma once

#include <cstddef>
#include <string_view>

namespace ddlrun::runtime {

enum class LrScale { linear, sqrt, none };
enum class LrDecay { none, cosine };

// By how much N times the batch multiplies the learning rate: N (Goyal et al. 2017), sqrt(N) (Krizhevsky
// 2014) or 1.
double lr_factor(LrScale scale, double batch_ratio);

struct LrSchedule {
  double peak = 0.01;  // after scaling
  std::size_t warmup_steps = 0;
  std::size_t total_steps = 0;
  LrDecay decay = LrDecay::none;
};

// The rate of step `step` (from 0): peak*(step+1)/warmup_steps while warming up, then constant or a half
// cosine that would reach 0 right after the last step.
double learning_rate(const LrSchedule& schedule, std::size_t step);

}  // namespace ddlrun::runtime
