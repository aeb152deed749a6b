// SPDX-License-Identifier: MIT
// Who a started process is, from the variables that its launcher set.
#pragma once

#include "base/os/system.hpp"

#include <cstdint>
#include <optional>

namespace ddlrun::launch {

enum class RankLauncher { ddlrun, open_mpi, pmix, hydra, slurm };

struct RankIdentity {
  std::uint32_t rank = 0;
  std::optional<std::uint32_t> local_rank;  // not every launcher sets it
  RankLauncher launcher = RankLauncher::open_mpi;
  std::optional<std::uint32_t> size = std::nullopt;  // number of ranks; PMIx has no variable for it

  bool operator==(const RankIdentity&) const = default;
};

// ddlrun's own start, Open MPI, PMIx, MPICH's hydra and Slurm, in this order; nothing where no launcher
// started us.
std::optional<RankIdentity> find_rank_identity(const EnvVars& environment);

// Removes ddlrun's own rank and size, so that find_rank_identity() reads those of the MPI launcher or srun.
void forget_rank_numbers(EnvVars& environment);

}  // namespace ddlrun::launch
