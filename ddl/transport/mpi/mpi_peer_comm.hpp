// SPDX-License-Identifier: MIT
// Peer communicators between processes, by MPI's point-to-point messages. MPI must have been started with
// MPI_THREAD_SERIALIZED when only one thread is in MPI at a time, else with MPI_THREAD_MULTIPLE.
#pragma once

#include "ddl/core/grid.hpp"
#include "ddl/transport/peer_comm.hpp"

#include <mpi.h>

#include <memory>
#include <vector>

namespace ddl {

enum class MpiWait {
  polls,  // MPI_Test and sleep: with a deadline, stall reports and the inspector
  blocks  // MPI_Wait, without any of these: for a simulated MPI, whose clock stands still while a rank polls
};

// This rank's wires, one for each of place(rank).levels, each on a communicator of its own. Collective over
// `all`, whose ranks are those of `grid`. `timeout_seconds`: how long a message may take from when it is
// waited for. After an Error the messages that are under way keep their memory in use until the wires are
// destroyed.
std::vector<std::unique_ptr<PeerComm>> make_mpi_level_comms(MPI_Comm all, const Grid& grid,
                                                            double timeout_seconds,
                                                            MpiWait wait = MpiWait::polls);

}  // namespace ddl
