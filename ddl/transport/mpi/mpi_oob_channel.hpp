// SPDX-License-Identifier: MIT
// Notes between the ranks of a communicator, by MPI.
#pragma once

#include "ddl/core/liveness_inspector.hpp"

#include <mpi.h>

#include <memory>

namespace ddl {

// Collective.
std::unique_ptr<OobChannel> make_mpi_oob_channel(MPI_Comm all);

}  // namespace ddl
