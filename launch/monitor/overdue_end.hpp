// SPDX-License-Identifier: MIT
// When mpirun does not end although all ranks have, or although it ends the job because of one.
#pragma once

#include "base/os/system.hpp"

#include <chrono>
#include <optional>

namespace ddlrun::launch {

// mpirun has so long to end after its last rank. It usually takes less than 1 s, and 4 s if it must end ranks
// itself.
constexpr std::chrono::seconds end_patience{10};
// And so long after it has begun to end the job because of a rank. It may wait for a silent host: 25 s for
// its own connection, 30 s for ssh.
constexpr std::chrono::seconds abort_patience{45};

// How far a job has come to its end.
enum class JobEnd { none, failing, all_ended };

// Time counts only while mpirun is idle: not while it passes output on, or while the reader of that output
// waits, or while mpirun or launch is stopped. Nor, after the last rank, while mpirun has children other than
// connections to hosts, for they may be processes of MPI_Comm_spawn. Open MPI ends all of a failing job.
class OverdueEndDetector {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // For each tick. True from the moment at which mpirun is overdue.
  bool tick(Time now, JobEnd end, const ChildView& mpirun);

 private:
  std::optional<Time> idle_since_;
  std::optional<std::uint64_t> bytes_written_;
  Time last_tick_;
};

}  // namespace ddlrun::launch
