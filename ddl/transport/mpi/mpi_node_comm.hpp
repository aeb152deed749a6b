// SPDX-License-Identifier: MIT
// The ranks of this host as MPI sees them; blocks are MPI's shared windows.
#pragma once

#include "ddl/node/node_comm.hpp"

#include <mpi.h>

#include <memory>
#include <optional>

namespace ddl {

// Collective over `all`; local ranks are in the order of the ranks of `all`, names are those of its ranks, or
// of `number`, this rank's.
// Blocks and the group are freed before MPI_Finalize, by one thread at a time in MPI.
std::unique_ptr<NodeComm> make_mpi_node_comm(MPI_Comm all, std::optional<int> number = std::nullopt);

}  // namespace ddl
