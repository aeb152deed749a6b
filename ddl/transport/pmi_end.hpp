// SPDX-License-Identifier: MIT
// The end of all ranks at their launcher, without MPI_Finalize of a version that may not return.
#pragma once

#include <string_view>

namespace ddl {

// MPICH before 4.2 over UCX: in MPI_Finalize a rank waits until others answer its last messages, and those
// may wait for the launcher already, where MPI answers nothing (pmodels/mpich, pull request 6596). `version`:
// of MPI_Get_library_version().
bool may_hang_in_finalize(std::string_view version);

// Waits for all ranks and ends this one, in the wire protocol PMI-1 of hydra and srun on PMI_FD. Collective,
// as MPI_Finalize. False: the other side did not answer so, and this rank has not ended.
bool end_pmi(int fd);

}  // namespace ddl
