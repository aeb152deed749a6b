// SPDX-License-Identifier: MIT
#include "runtime/schedule.hpp"

#include <cmath>
#include <numbers>

namespace ddlrun::runtime {

double lr_factor(LrScale scale, double batch_ratio) {
  switch (scale) {
    case LrScale::linear:
      return batch_ratio;
    case LrScale::sqrt:
      return std::sqrt(batch_ratio);
    case LrScale::none:
      return 1.0;
  }
  return 1.0;
}

double learning_rate(const LrSchedule& schedule, std::size_t step) {
  if (step < schedule.warmup_steps) {
    return schedule.peak * static_cast<double>(step + 1) / static_cast<double>(schedule.warmup_steps);
  }
  if (schedule.decay == LrDecay::none || schedule.total_steps <= schedule.warmup_steps) return schedule.peak;
  const auto done = static_cast<double>(step - schedule.warmup_steps);
  const auto span = static_cast<double>(schedule.total_steps - schedule.warmup_steps);
  if (done >= span) return 0.0;
  return schedule.peak * 0.5 * (1.0 + std::cos(std::numbers::pi * done / span));
}

}  // namespace ddlrun::runtime
