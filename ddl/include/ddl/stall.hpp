// SPDX-License-Identifier: MIT
// A call that waits for missing ranks: reported while it waits, long before it fails.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

struct Stall {
  std::vector<std::string> missing;  // "rank 3 (h2)"
  std::string call;                  // "all_reduce #812 of 4096 float32"
  std::string tensor;                // its name
  double seconds = 0.0;              // waited
  bool over = false;                 // they came: the call goes on
  // Of the first of them, where it can be known: a rank of another host sends nothing.
  std::string seen;  // "last in all_reduce #811 of 4096 float32; process 4711 is stopped"
  std::optional<std::uint64_t> progress;  // Context::set_progress
};

// Called after `seconds`, after twice as long, after four times ... Called by the thread that waits; it must
// not call the Context.
struct StallWatch {
  double seconds = 0.0;  // 0: never
  std::function<void(const Stall&)> report;
};

// One wait.
class StallTimer {
 public:
  explicit StallTimer(const StallWatch& watch) : watch_(watch), next_(watch.seconds) {}

  // `describe` makes the Stall; without missing ranks there is nothing to report.
  template <typename Describe>
  void waited(double seconds, const Describe& describe) {
    if (next_ <= 0.0 || seconds < next_ || !watch_.report) return;
    while (next_ <= seconds) next_ *= 2.0;
    Stall stall = describe();
    // A rank may come between the wait and its description: what was reported before still needs its end.
    if (stall.missing.empty()) return;
    reported_ = std::move(stall);
    reported_.seconds = seconds;
    watch_.report(reported_);
  }
  bool reported() const { return !reported_.missing.empty(); }
  void over(double seconds) {
    if (!reported()) return;
    reported_.over = true;
    reported_.seconds = seconds;
    watch_.report(reported_);
  }

 private:
  const StallWatch& watch_;
  double next_;
  Stall reported_;
};

}  // namespace ddl
