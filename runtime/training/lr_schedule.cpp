// SPDX-License-Identifier: MIT
#include "runtime/training/lr_schedule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace ddlrun::runtime {
namespace {

constexpr std::array<const char*, 8> policy_names{"none", "cosine", "step", "multistep",
                                                  "exp",  "inv",    "poly", "sigmoid"};

double cosine_rate(const LrSchedule& schedule, std::size_t step) {
  if (schedule.total_steps <= schedule.warmup_steps) return schedule.peak;
  const auto done = static_cast<double>(step - schedule.warmup_steps);
  const auto span = static_cast<double>(schedule.total_steps - schedule.warmup_steps);
  if (done >= span) return 0.0;
  return schedule.peak * 0.5 * (1.0 + std::cos(std::numbers::pi * done / span));
}

double poly_rate(const LrSchedule& schedule, std::size_t step) {
  if (step >= schedule.total_steps) return 0.0;
  const double done = static_cast<double>(step) / static_cast<double>(schedule.total_steps);
  return schedule.peak * std::pow(1.0 - done, schedule.power);
}

}  // namespace

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

const char* name_of(LrDecay decay) { return policy_names.at(static_cast<std::size_t>(decay)); }

double learning_rate(const LrSchedule& schedule, std::size_t step) {
  const double peak = schedule.peak;
  const auto t = static_cast<double>(step);
  if (step < schedule.warmup_steps) return peak * (t + 1.0) / static_cast<double>(schedule.warmup_steps);
  switch (schedule.decay) {
    case LrDecay::none:
      return peak;
    case LrDecay::cosine:
      return cosine_rate(schedule, step);
    case LrDecay::step:
      return peak * std::pow(schedule.gamma,
                             static_cast<double>(step / std::max<std::size_t>(schedule.step_size, 1)));
    case LrDecay::multistep: {
      const auto passed = std::upper_bound(schedule.step_values.begin(), schedule.step_values.end(), step);
      return peak * std::pow(schedule.gamma, static_cast<double>(passed - schedule.step_values.begin()));
    }
    case LrDecay::exp:
      return peak * std::pow(schedule.gamma, t);
    case LrDecay::inv:
      return peak * std::pow(1.0 + schedule.gamma * t, -schedule.power);
    case LrDecay::poly:
      return poly_rate(schedule, step);
    case LrDecay::sigmoid:
      return peak / (1.0 + std::exp(-schedule.gamma * (t - static_cast<double>(schedule.step_size))));
  }
  return peak;
}

std::vector<std::string> find_schedule_errors(const LrSchedule& schedule) {
  std::vector<std::string> errors;
  const std::string name = name_of(schedule.decay);
  if (schedule.decay == LrDecay::step && schedule.step_size == 0)
    errors.push_back(name + " needs a step size of at least 1");
  const auto& values = schedule.step_values;
  if (schedule.decay == LrDecay::multistep && values.empty())
    errors.push_back(name + " needs at least one step value");
  const auto bad = std::adjacent_find(values.begin(), values.end(), std::greater_equal<>());
  if (schedule.decay == LrDecay::multistep && bad != values.end()) {
    errors.push_back(
        fmt::format("{} needs ascending step values, but {} comes before {}", name, bad[0], bad[1]));
  }
  // 0 to the power of 0 is 1 and then 0: a rate that ends after one step is a gamma that was forgotten.
  const bool multiplies = schedule.decay == LrDecay::step || schedule.decay == LrDecay::multistep ||
                          schedule.decay == LrDecay::exp;
  if (multiplies && !(schedule.gamma > 0.0 && std::isfinite(schedule.gamma)))
    errors.push_back(fmt::format("{} needs a gamma above 0, not {}", name, schedule.gamma));
  if (schedule.decay == LrDecay::inv && !(schedule.gamma >= 0.0 && std::isfinite(schedule.gamma)))
    errors.push_back(fmt::format("{} needs a gamma of at least 0, not {}", name, schedule.gamma));
  return errors;
}

std::string render_decay(const LrSchedule& schedule) {
  const std::string name = name_of(schedule.decay);
  switch (schedule.decay) {
    case LrDecay::none:
    case LrDecay::cosine:
      return name;
    case LrDecay::step:
      return fmt::format("{} {} gamma {}", name, schedule.step_size, schedule.gamma);
    case LrDecay::multistep:
      return fmt::format("{} {} gamma {}", name, fmt::join(schedule.step_values, ","), schedule.gamma);
    case LrDecay::exp:
      return fmt::format("{} gamma {}", name, schedule.gamma);
    case LrDecay::inv:
      return fmt::format("{} gamma {} power {}", name, schedule.gamma, schedule.power);
    case LrDecay::poly:
      return fmt::format("{} power {}", name, schedule.power);
    case LrDecay::sigmoid:
      return fmt::format("{} {} gamma {}", name, schedule.step_size, schedule.gamma);
  }
  return name;
}

}  // namespace ddlrun::runtime
