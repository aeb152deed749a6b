// SPDX-License-Identifier: MIT
#include "runtime/training/schedule_tuner.hpp"

#include <algorithm>

namespace ddlrun::runtime {
namespace {

// Pages are touched and kernels are made in the first steps.
constexpr std::size_t steps_to_warm_up = 3;
// In turn, so that a disturbance does not hit one schedule only; odd, for the median.
constexpr std::size_t tuning_rounds = 7;
// Steps differ by more than this for no reason; so the first schedule, which costs least beside time, is left
// only for more.
constexpr float worth_it = 0.98F;

// A schedule across steps is two steps on its own: the first one has nothing left over from the step before
// it.
std::size_t turn_of(const ReduceSchedule& schedule) { return spans_steps(schedule) ? 3 : 1; }
std::size_t uncounted(const ReduceSchedule& schedule) { return spans_steps(schedule) ? 1 : 0; }

}  // namespace

ScheduleTuner::ScheduleTuner(std::vector<ReduceSchedule> schedules)
    : schedules_(std::move(schedules)), seconds_(schedules_.size()), decided_(schedules_.size() < 2) {}

bool ScheduleTuner::turn_ends() const {
  return !decided_ && steps_ >= steps_to_warm_up && in_turn_ + 1 == turn_of(schedule());
}

bool ScheduleTuner::add(double seconds) {
  const bool ends = turn_ends();
  if (decided_ || ++steps_ <= steps_to_warm_up) return false;
  if (in_turn_++ >= uncounted(schedule())) seconds_[current_].push_back(seconds);
  if (!ends) return false;
  in_turn_ = 0;
  for (std::size_t k = 0; k < schedules_.size(); ++k) {  // the next one that has not been tried enough
    current_ = (current_ + 1) % schedules_.size();
    if (seconds_[current_].size() < tuning_rounds) return false;
  }
  return true;
}

std::vector<float> ScheduleTuner::medians() const {
  std::vector<float> medians;
  for (std::vector<double> times : seconds_) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    medians.push_back(static_cast<float>(*middle));
  }
  return medians;
}

void ScheduleTuner::decide(std::span<const float> sums) {
  const auto best = std::min_element(sums.begin(), sums.end());
  current_ = *best < worth_it * sums.front() ? static_cast<std::size_t>(best - sums.begin()) : 0;
  decided_ = true;
}

}  // namespace ddlrun::runtime
