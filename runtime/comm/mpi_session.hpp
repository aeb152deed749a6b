// SPDX-License-Identifier: MIT
// MPI from start to end. Nothing outside mpi_* sees an MPI type.
#pragma once

#include "ddl/launcher.hpp"
#include "ddl/stall.hpp"
#include "runtime/comm/communicator.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::runtime {

// Starts MPI, runs `work` with all ranks, ends MPI, and returns the exit status. An CollectiveError is
// printed by rank 0 and all ranks end in order; any other exception is printed by its rank, as [rank N host],
// and ends the whole job at once, because the others may be waiting for this rank. `mistake` is what this
// rank found wrong with its command line: a process without a launcher prints it and starts no MPI; launched
// ranks agree on it first, for a launcher ends the others as soon as one has failed, and rank 0's message
// would be lost. `wire`: how sums travel between hosts: "float32", "bfloat16" or "float16"; DDL_OPTIONS goes
// first. `stall`: who is told when a rank stays away.
int run_mpi_session(std::string_view program, const std::optional<Error>& mistake,
                    const std::function<void(Communicator&)>& work, const std::string& wire = "float32",
                    ddl::StallWatch stall = {});

// Seconds that ranks shall wait for one another at most, if DDL_OPTIONS says so.
std::optional<double> requested_timeout();

using ddl::launched_rank;  // known before MPI starts

}  // namespace ddlrun::runtime
