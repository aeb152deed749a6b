// SPDX-License-Identifier: MIT
// libddl over a communicator of the program's own: Context(ddl::mpi_comm(comm)). Needs the mpi.h with which
// the program is compiled; libddl itself takes the MPI that the process has loaded.
#pragma once

#include "ddl/ddl.hpp"

#include <mpi.h>

#include <cstring>

namespace ddl {

// Local; never throws.
inline MpiComm mpi_comm(MPI_Comm comm) {
  MpiComm ranks;
  static_assert(sizeof(comm) <= sizeof(ranks.handle));
  ranks.size = sizeof(comm);
  std::memcpy(&ranks.handle, &comm, sizeof(comm));
  return ranks;
}

}  // namespace ddl
