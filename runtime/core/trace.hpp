// SPDX-License-Identifier: MIT
// Where a rank's time goes, told as spans while it goes. Whoever spends time tells; nobody asks who listens.
//
//   const auto begin = TraceClock::now();
//   layer.forward();
//   if (sink) sink->span(TraceLane::compute, "conv1 forward", begin, TraceClock::now());
//
// compute: what the trainer's own thread does, also waits ("wait for bucket 2", "wait for input"), so that
// this lane alone fills the step. sums, input, saving: what other threads do beside it. A span on compute of
// no length, with the name of a sum ("bucket 2"), tells that from now on the sum can be made: an arrow leads
// from there to that sum.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace ddlrun::runtime {

using TraceClock = std::chrono::steady_clock;

// What the rank does at the same time as something else has a lane of its own.
enum class TraceLane { compute, sums, input, saving };

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Called from any thread. `name` lives at least as long as the sink: "conv1 forward", "bucket 2".
  // `bytes`: what travelled, 0 if nothing did.
  virtual void span(TraceLane lane, std::string_view name, TraceClock::time_point begin,
                    TraceClock::time_point end, std::uint64_t bytes = 0) = 0;
};

}  // namespace ddlrun::runtime
