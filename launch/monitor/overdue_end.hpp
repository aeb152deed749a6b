// SPDX-License-Identifier: MIT
// When mpirun does not end although all ranks have.
#pragma once

#include "base/os/system.hpp"

#include <chrono>
#include <optional>

namespace ddlrun::launch {

// mpirun has so long to end after its last rank. It usually takes less than 1 s, and 4 s if it must end ranks
// itself.
constexpr std::chrono::seconds end_patience{10};

// Time counts only while mpirun is idle: not while it passes output on, or while the reader of that output
// waits. Nor while it has children other than connections to hosts: those may be processes of MPI_Comm_spawn.
class OverdueEndDetector {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // For each tick; `ended`: all ranks have. True from the moment at which mpirun is overdue.
  bool tick(Time now, bool ended, const ChildView& mpirun);

 private:
  std::optional<Time> idle_since_;
  std::optional<std::uint64_t> bytes_written_;
  Time last_tick_;
};

}  // namespace ddlrun::launch
