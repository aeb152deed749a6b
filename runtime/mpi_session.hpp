// SPDX-License-Identifier: MIT
// MPI from start to end. Nothing outside mpi_* sees an MPI type.
#pragma once

#include "runtime/communicator.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace ddlrun::runtime {

// Starts MPI, runs `work` with all ranks, ends MPI, and returns the exit status. An AgreedError is printed by
// rank 0 and all ranks end in order; any other exception is printed by its rank, as [rank N host], and ends
// the whole job at once, because the others may be waiting for this rank.
// `mistake` is what this rank found wrong with its command line: a process without a launcher prints it and
// starts no MPI; launched ranks agree on it first, for a launcher ends the others as soon as one has failed,
// and rank 0's message would be lost.
int run_mpi_session(std::string_view program, const std::optional<Error>& mistake,
                    const std::function<void(Communicator&)>& work);

// The rank that a launcher gave to this process, known before MPI starts; none without a launcher.
std::optional<int> launched_rank();

}  // namespace ddlrun::runtime
