// SPDX-License-Identifier: MIT
// The learning rate of each step: how it grows with the ranks, warms up and decays. Pure arithmetic.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ddlrun::runtime {

enum class LrScale { linear, sqrt, none };

// Factor of the learning rate for a batch that is `batch_ratio` = N times larger: N (Goyal et al. 2017),
// sqrt(N) (Krizhevsky 2014) or 1.
double lr_factor(LrScale scale, double batch_ratio);

// All but cosine are Caffe's lr_policy, with its names (none: "fixed") and its formulas in double precision.
//   step       peak * gamma ^ floor(step / step_size)
//   multistep  peak * gamma ^ (how many of step_values are <= step)
//   exp        peak * gamma ^ step
//   inv        peak * (1 + gamma * step) ^ -power
//   poly       peak * (1 - step / total_steps) ^ power
//   sigmoid    peak / (1 + e ^ (-gamma * (step - step_size)))
// cosine falls from peak after the warm-up to 0 right after the last step.
enum class LrDecay { none, cosine, step, multistep, exp, inv, poly, sigmoid };
const char* name_of(LrDecay decay);

struct LrSchedule {
  double peak = 0.01;  // after scaling: Caffe's base_lr
  std::size_t warmup_steps = 0;
  std::size_t total_steps = 0;  // Caffe's max_iter
  LrDecay decay = LrDecay::none;
  double gamma = 0.0;
  double power = 0.0;
  std::size_t step_size = 0;             // Caffe's stepsize
  std::vector<std::size_t> step_values;  // ascending: Caffe's stepvalue

  bool operator==(const LrSchedule&) const = default;
};

// The rate of step `step` (from 0): peak*(step+1)/warmup_steps while warming up, then by `decay`.
// Caffe's policies count from step 0 also after a warm-up.
double learning_rate(const LrSchedule& schedule, std::size_t step);

// Mistakes in the parameters of the policy, one line each: "step needs a step size of at least 1".
std::vector<std::string> find_schedule_errors(const LrSchedule& schedule);

// "inv gamma 0.0001 power 0.75": the policy with the numbers that it uses.
std::string render_decay(const LrSchedule& schedule);

}  // namespace ddlrun::runtime
