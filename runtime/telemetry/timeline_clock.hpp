// SPDX-License-Identifier: MIT
// Measures the offsets between the clocks of the ranks. No rank leaves a gather before all ranks have entered
// it: that bounds the offset from both sides, independent of the network.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/telemetry/timeline_part.hpp"

#include <span>

namespace ddlrun::runtime {

// One gather, timed on one rank's clock.
struct ClockRound {
  std::int64_t entered_ns = 0;
  std::int64_t left_ns = 0;
};

// Pure: the offset within all bounds, from the same rounds on rank 0 and on this rank.
ClockReading fit_clock(std::span<const ClockRound> first, std::span<const ClockRound> mine);

// Collective.
ClockReading read_clock(Communicator& ranks);

// Pure: converts a time of this rank to rank 0's clock; interpolates linearly between two readings.
std::int64_t align_time(std::span<const ClockReading> readings, std::int64_t time_ns);

}  // namespace ddlrun::runtime
