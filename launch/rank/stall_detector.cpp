// SPDX-License-Identifier: MIT
#include "launch/rank/stall_detector.hpp"

#include <algorithm>

namespace ddlrun::launch {

using std::chrono::milliseconds;

milliseconds sample_interval(int after) {
  return std::clamp(milliseconds(after * 1000LL / 12), milliseconds(100), milliseconds(10'000));
}

StallDetector::StallDetector(int after, Time start)
    : every_(sample_interval(after)),
      report_after_(milliseconds(after * 1000LL) - 2 * every_),
      last_progress_(start),
      last_look_(start) {}

// Threads of libraries wake up without work: Gloo's loop (PyTorch 2.15) uses 0.2 % of a core while its rank
// sleeps.
constexpr double background_share = 0.005;

bool StallDetector::made_progress(Time now, const TreeSnapshot& sample) const {
  if (!last_ || sample.io_bytes != last_->io_bytes || sample.cpu_ns < last_->cpu_ns) return true;
  const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_look_).count();
  const auto used = static_cast<double>(sample.cpu_ns - last_->cpu_ns);
  if (used > background_share * static_cast<double>(elapsed)) return true;
  if (sample.state == 'R') return true;  // it would, if it were let
  // We were held up ourselves: a suspended machine, a stopped group. Nothing can be said of that time.
  return now - last_look_ > 3 * every_ + milliseconds(1000);
}

StallEvent StallDetector::take(Time now, const TreeSnapshot& sample) {
  const bool moves = made_progress(now, sample);
  const auto quiet = now - last_progress_;
  const auto seconds = static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(quiet).count());
  last_look_ = now;
  last_ = sample;
  if (moves) {
    last_progress_ = now;
    if (reported_ == 0) return {};
    reported_ = 0;
    return {StallEvent::resumed, {seconds, sample.state, sample.pid, sample.name, {}}};
  }
  if (quiet < report_after_ || sample.state == reported_) return {};
  reported_ = sample.state;
  return {StallEvent::stalled, {seconds, sample.state, sample.pid, sample.name, sample.waits_in}};
}

}  // namespace ddlrun::launch
