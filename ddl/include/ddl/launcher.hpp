// SPDX-License-Identifier: MIT
// What a launcher set for this process before MPI starts: mpirun, srun, another one with PMI or PMIx, or the
// user of DDL_MASTER and DDL_RANK, to start it without MPI. For ddl-train and ddl-bench: it is no part of the
// public interface.
#pragma once

#include <optional>

namespace ddl {

// Nothing where no launcher started this process.
std::optional<int> launched_rank();

// How many ranks mpirun started: of Open MPI's and hydra's variables. Nothing where neither has said it.
std::optional<int> launched_size();

}  // namespace ddl
