// SPDX-License-Identifier: MIT
// Notes between the ranks of a communicator, by MPI.
#pragma once

#include "ddl/roll_call.hpp"

#include <mpi.h>

#include <memory>

namespace ddl {

// Collective.
std::unique_ptr<NoteBox> make_mpi_notes(MPI_Comm all);

}  // namespace ddl
