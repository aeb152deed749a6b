// SPDX-License-Identifier: MIT
// Does a rank make progress? Judged from samples of its processes: any byte, and more CPU time than the
// background threads of libraries use. A rank that spins in a library is at work for this detector. Pure.
#pragma once

#include "base/process/tree_snapshot.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace ddlrun::launch {

// For how long nothing happened, and what the most telling process does instead.
struct Stall {
  int seconds = 0;
  char state = 'S';  // T stopped, t traced, D in the kernel, S asleep
  int pid = -1;
  std::string name;
  std::string waits_in;

  bool operator==(const Stall&) const = default;
};

// Sampling interval with which a stall is reported at most `after` seconds after the last progress.
std::chrono::milliseconds sample_interval(int after);

struct StallEvent {
  enum Kind { nothing, stalled, resumed } kind = nothing;
  Stall stall;
};

class StallDetector {
 public:
  using Time = std::chrono::steady_clock::time_point;
  StallDetector(int after, Time start);
  // A stall is reported once; again only if its state changes, as from asleep to stopped.
  StallEvent take(Time now, const TreeSnapshot& sample);

 private:
  bool made_progress(Time now, const TreeSnapshot& sample) const;

  std::chrono::milliseconds every_, report_after_;
  Time last_progress_, last_look_;
  std::optional<TreeSnapshot> last_;
  char reported_ = 0;
};

}  // namespace ddlrun::launch
