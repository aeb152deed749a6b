// SPDX-License-Identifier: MIT
// Ranks as processes, by MPI.
#pragma once

#include "ddl/transport/transport.hpp"

#include <memory>

namespace ddl {

// Starts MPI with MPI_THREAD_SERIALIZED unless it has been started, and then ends it with the last of what it
// made; a process that no launcher started is one rank and starts nothing. Throws Error(usage) when MPI was
// started with less.
std::unique_ptr<Transport> make_mpi_transport(int& argc, char**& argv);

}  // namespace ddl
