// SPDX-License-Identifier: MIT
// Reports a stalled rank long before the timeout: which step the others wait in, its last known activity, and
// when it continues.
#pragma once

#include "base/text/error.hpp"
#include "ddl/stall.hpp"
#include "runtime/core/trace.hpp"
#include "runtime/training/observer.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace ddlrun::runtime {

// Activity of a rank, and its encoding as the number that Communicator::set_progress() publishes (0: none
// yet).
struct RankState {
  TraceLane last = TraceLane::compute;  // the last activity
  std::uint64_t step = 0;               // in this one
  bool operator==(const RankState&) const = default;
};
std::uint64_t pack_state(const RankState& state);
RankState unpack_state(std::uint64_t number);

// Pure: the message of a rank that works on `step`.
Message render_stall(const ddl::Stall& stall, std::uint64_t step);

// Tracks the activity of this rank, publishes it, and prints libddl's reports about other ranks.
class StallInspector : public TraceSink, public TrainObserver {
 public:
  using Show = std::function<void(std::uint64_t state)>;
  explicit StallInspector(std::string program) : program_(std::move(program)) {}

  // Sets the function that publishes the activity; call it before the training.
  void report_progress_with(Show show) { show_ = std::move(show); }
  ddl::StallWatch watch(double seconds);

  void on_start(std::size_t total_steps, std::size_t first_step) override;
  void on_step(const StepRecord& record) override;
  void span(TraceLane lane, std::string_view name, TraceClock::time_point begin, TraceClock::time_point end,
            std::uint64_t bytes = 0) override;

 private:
  void at(TraceLane lane);

  std::string program_;
  Show show_;
  std::atomic<std::uint64_t> step_ = 0;
};

}  // namespace ddlrun::runtime
