// SPDX-License-Identifier: MIT
// How far apart the clocks of the ranks are. Nobody leaves a gather before everybody has entered it: that
// bounds the difference from both sides, whatever the network does.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/telemetry/timeline_part.hpp"

#include <span>

namespace ddlrun::runtime {

// One gather on one rank's clock.
struct ClockRound {
  std::int64_t entered_ns = 0;
  std::int64_t left_ns = 0;
};

// Pure: from the same rounds on rank 0 and on this rank, what lies within all bounds.
ClockReading fit_clock(std::span<const ClockRound> first, std::span<const ClockRound> mine);

// Collective.
ClockReading read_clock(Communicator& ranks);

// Pure: a time of this rank on rank 0's clock; between two readings the clocks drift evenly.
std::int64_t align_time(std::span<const ClockReading> readings, std::int64_t time_ns);

}  // namespace ddlrun::runtime
