// SPDX-License-Identifier: MIT
// Interface for timeline spans. Producers emit spans; sinks are optional.
//
//  const auto begin = TraceClock::now();
//  layer.forward();
//  if (sink) sink->span(TraceLane::compute, "conv1 forward", begin, TraceClock::now());
//
// Lane compute: the trainer's main thread, including waits ("wait for bucket 2", "wait for input"), so that
// this lane covers the whole step. Lanes sums, input, saving: other threads. A compute span of zero length
// with the name of a reduction ("bucket 2") marks when that reduction can start; the timeline draws an arrow
// from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace ddlrun::runtime {

using TraceClock = std::chrono::steady_clock;

// One lane for each activity that can run concurrently.
enum class TraceLane { compute, sums, input, saving };

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Thread-safe. `name` must outlive the sink: "conv1 forward", "bucket 2". `bytes`: transferred, else 0.
  virtual void span(TraceLane lane, std::string_view name, TraceClock::time_point begin,
                    TraceClock::time_point end, std::uint64_t bytes = 0) = 0;
};

}  // namespace ddlrun::runtime
