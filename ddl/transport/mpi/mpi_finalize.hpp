// SPDX-License-Identifier: MIT
// The end of MPI on all ranks.
#pragma once

namespace ddl {

// MPI_Finalize, or what ends MPI where that may not return. Collective over MPI_COMM_WORLD.
void finalize_mpi();

// MPI_Abort, behind a pause in which the launcher reads what this rank has printed. Does not return.
void abort_mpi(int status) noexcept;

// MPI cannot be called any more in this process.
bool is_mpi_over();

}  // namespace ddl
