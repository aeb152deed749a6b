// SPDX-License-Identifier: MIT
#include "launch/rank/stall_detector.hpp"

#include "launch/rank/spin_wait.hpp"

#include <algorithm>
#include <utility>

namespace ddlrun::launch {

using std::chrono::milliseconds;

milliseconds sample_interval(int after) {
  return std::clamp(milliseconds(after * 1000LL / 12), milliseconds(100), milliseconds(10'000));
}

StallDetector::StallDetector(int after, Time start, SampleCode sample_code)
    : every_(sample_interval(after)),
      report_after_(milliseconds(after * 1000LL) - 2 * every_),
      sample_code_(std::move(sample_code)),
      last_progress_(start),
      last_bytes_(start),
      last_look_(start) {}

// Threads of libraries wake up without work: Gloo's loop (PyTorch 2.15) uses 0.2 % of a core while its rank
// sleeps.
constexpr double background_share = 0.005;

bool StallDetector::uses_cpu(Time now, const TreeSnapshot& sample) const {
  if (sample.cpu_ns < last_->cpu_ns) return true;
  const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_look_).count();
  const auto used = static_cast<double>(sample.cpu_ns - last_->cpu_ns);
  return used > background_share * static_cast<double>(elapsed) ||
         sample.state == 'R';  // it would, if it were let
}

// The library, where a rank waits at full speed; "" where it works; nothing if that is not known yet.
std::optional<std::string> StallDetector::spins_in(Time now, int pid) {
  if (!sample_code_ || now - last_bytes_ < report_after_ / 2) return "";
  for (const auto& [name, count] : sample_code_(pid)) code_[name] += count;
  std::optional<std::string> library = find_spin_library(code_);
  if (library) code_.clear();
  return library;
}

StallEvent StallDetector::take(Time now, const TreeSnapshot& sample) {
  Stall stall{0, sample.state, sample.pid, sample.name, sample.waits_in};
  // We were held up ourselves: a suspended machine, a stopped group. Nothing can be said of that time.
  const bool was_held_up = now - last_look_ > 3 * every_ + milliseconds(1000);
  bool moves = !last_ || was_held_up || sample.io_bytes != last_->io_bytes;
  if (moves) last_bytes_ = now;
  std::optional<std::string> library;
  const bool busy = !moves && uses_cpu(now, sample);
  if (busy) library = spins_in(now, sample.pid);
  last_look_ = now;
  last_ = sample;
  if (!busy) code_.clear();
  if (busy && !library) return {};
  if (busy && !library->empty()) {
    stall.state = 'R';
    stall.waits_in = *library;
  }
  return report(now, stall, moves || (busy && library->empty()));
}

StallEvent StallDetector::report(Time now, const Stall& stall, bool moves) {
  const auto quiet = now - last_progress_;
  StallEvent event{StallEvent::nothing, stall};
  event.stall.seconds = static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(quiet).count());
  if (moves) {
    last_progress_ = now;
    if (reported_ == 0) return {};
    reported_ = 0;
    event.kind = StallEvent::resumed;
    event.stall.waits_in.clear();
    return event;
  }
  if (quiet < report_after_ || stall.state == reported_) return {};
  reported_ = stall.state;
  event.kind = StallEvent::stalled;
  return event;
}

}  // namespace ddlrun::launch
