// SPDX-License-Identifier: MIT
#include "runtime/training/way_tuner.hpp"

#include <algorithm>

namespace ddlrun::runtime {
namespace {

// Pages are touched and kernels are made in the first steps.
constexpr std::size_t steps_to_warm_up = 3;
// In turn, so that a disturbance does not hit one way only; odd, for the median.
constexpr std::size_t tuning_rounds = 7;
// Steps differ by more than this for no reason; so the first way, which costs least beside time, is left only
// for more.
constexpr float worth_it = 0.98F;

}  // namespace

WayTuner::WayTuner(std::vector<SumWay> ways)
    : ways_(std::move(ways)), seconds_(ways_.size()), settled_(ways_.size() < 2) {}

bool WayTuner::add(double seconds) {
  if (settled_ || ++steps_ <= steps_to_warm_up) return false;
  seconds_[current_].push_back(seconds);
  current_ = (current_ + 1) % ways_.size();
  return seconds_.back().size() == tuning_rounds;
}

std::vector<float> WayTuner::medians() const {
  std::vector<float> medians;
  for (std::vector<double> times : seconds_) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    medians.push_back(static_cast<float>(*middle));
  }
  return medians;
}

void WayTuner::settle(std::span<const float> sums) {
  const auto best = std::min_element(sums.begin(), sums.end());
  current_ = *best < worth_it * sums.front() ? static_cast<std::size_t>(best - sums.begin()) : 0;
  settled_ = true;
}

}  // namespace ddlrun::runtime
