// SPDX-License-Identifier: MIT
// Messages between any two ranks of a communicator, by MPI.
#pragma once

#include "ddl/transport/message_wire.hpp"

#include <mpi.h>

#include <memory>

namespace ddl {

// Collective. On a communicator of its own.
std::unique_ptr<MessageWire> make_mpi_message_wire(MPI_Comm all);

}  // namespace ddl
