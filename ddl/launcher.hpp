// SPDX-License-Identifier: MIT
// What a launcher told this process before MPI speaks: mpirun, srun, or another one with PMI or PMIx.
#pragma once

#include <optional>

namespace ddl {

// Nothing where no launcher started this process.
std::optional<int> launched_rank();

}  // namespace ddl
