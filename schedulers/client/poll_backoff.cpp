// SPDX-License-Identifier: MIT
#include "schedulers/job/scheduler.hpp"

#include <algorithm>

namespace ddlrun::schedulers {

namespace {
constexpr double kFirst = 2, kSlow = 30, kSlowest = 300, kHour = 3600;
constexpr double kMostQuick = 2;
}  // namespace

double PollBackoff::next(bool state_changed, bool failed) {
  if (failed) {
    ++failures;
    current = std::min(kSlowest, std::max(current, kFirst) * 2);
    return current;
  }
  failures = 0;
  // Soon after a change there may be another (it started, and ended at once); but an array whose tasks change
  // all the time must not make us ask all the time.
  if (current == 0) {
    current = kFirst;
  } else if (state_changed && quick >= 1) {
    quick -= 1;
    current = kFirst;
  } else {
    current = std::min(kSlow, current * 2);
  }
  quick = std::min(kMostQuick, quick + current / kHour);
  return current;
}

}  // namespace ddlrun::schedulers
