// SPDX-License-Identifier: MIT
#include "runtime/training/schedule_tuner.hpp"

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

// A way across steps is two steps on its own: the first one has nothing left over from the step before it.
std::size_t turn_of(const SumWay& way) { return goes_across(way) ? 3 : 1; }
std::size_t uncounted(const SumWay& way) { return goes_across(way) ? 1 : 0; }

}  // namespace

WayTuner::WayTuner(std::vector<SumWay> ways)
    : ways_(std::move(ways)), seconds_(ways_.size()), settled_(ways_.size() < 2) {}

bool WayTuner::turn_ends() const {
  return !settled_ && steps_ >= steps_to_warm_up && in_turn_ + 1 == turn_of(way());
}

bool WayTuner::add(double seconds) {
  const bool ends = turn_ends();
  if (settled_ || ++steps_ <= steps_to_warm_up) return false;
  if (in_turn_++ >= uncounted(way())) seconds_[current_].push_back(seconds);
  if (!ends) return false;
  in_turn_ = 0;
  for (std::size_t k = 0; k < ways_.size(); ++k) {  // the next one that has not been tried enough
    current_ = (current_ + 1) % ways_.size();
    if (seconds_[current_].size() < tuning_rounds) return false;
  }
  return true;
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
