// SPDX-License-Identifier: MIT
#include "runtime/training/schedule_trials.hpp"

namespace ddlrun::runtime {
namespace {

// Warm-up: pages are touched and kernels are made in the first steps. In rounds, so that a disturbance does
// not hit one schedule only. Steps differ by 2 % for no reason; the first schedule, which costs least beside
// time, is left only for more.
constexpr ddl::Trials::Plan schedule_plan{7, 3, 0.98};

}  // namespace

ddl::Trials make_schedule_trials(std::span<const ReduceSchedule> schedules) {
  std::vector<ddl::Trials::Turn> turns;
  // A schedule across steps is two steps on its own: the first one has nothing left over from the step before
  // it.
  for (const ReduceSchedule& schedule : schedules)
    turns.push_back(spans_steps(schedule) ? ddl::Trials::Turn{3, 1} : ddl::Trials::Turn{1, 0});
  return {std::move(turns), schedule_plan};
}

}  // namespace ddlrun::runtime
