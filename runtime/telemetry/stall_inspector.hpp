// SPDX-License-Identifier: MIT
// A rank that stays away is named by those that wait for it, long before they give up: which step they wait
// in, what it was last seen at, and when it is back.
#pragma once

#include "base/error.hpp"
#include "ddl/stall.hpp"
#include "runtime/core/trace.hpp"
#include "runtime/training/observer.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace ddlrun::runtime {

// What a rank is at, and the number as which it shows that to the other ranks of its host (0: nothing yet).
struct RankState {
  TraceLane last = TraceLane::compute;  // what it last did
  std::uint64_t step = 0;               // in this one
  bool operator==(const RankState&) const = default;
};
std::uint64_t pack_state(const RankState& state);
RankState unpack_state(std::uint64_t number);

// Pure: told by a rank that works on `step`.
Message render_stall(const ddl::Stall& stall, std::uint64_t step);

// Knows where its rank is, shows it to the others, and prints what libddl tells of them.
class StallInspector : public TraceSink, public TrainObserver {
 public:
  using Show = std::function<void(std::uint64_t state)>;
  explicit StallInspector(std::string program) : program_(std::move(program)) {}

  // Before the training.
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
