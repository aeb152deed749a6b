// SPDX-License-Identifier: MIT
// Slurm's variables of a rank that another launcher started inside a Slurm job. Slurm sets them for what it
// starts itself: for mpirun's daemons, or for the job script. A program that reads SLURM_PROCID would take
// each rank for rank 0. Pure.
#pragma once

#include "launch/rank/rank_identity.hpp"

namespace ddlrun::launch {

// What to set for this rank, as srun would; empty outside a Slurm job and for ranks that Slurm started.
// `node` is the number of its host, where it is known.
EnvVars correct_slurm_variables(const RankIdentity& identity, std::optional<std::uint32_t> node,
                                const EnvVars& environment);

}  // namespace ddlrun::launch
