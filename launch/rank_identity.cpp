// SPDX-License-Identifier: MIT
#include "launch/rank_identity.hpp"

#include "base/text.hpp"
#include "topology/dims.hpp"

namespace ddlrun::launch {

namespace {

struct Names {
  const char* rank;
  const char* local_rank;
};

// Ours first: a job script of Slurm's is a process of Slurm's, too.
constexpr Names launchers[] = {{"DDLRUN_RANK", "DDLRUN_LOCAL_RANK"},
                               {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"},
                               {"PMIX_RANK", "PMIX_LOCAL_RANK"},
                               {"PMI_RANK", "MPI_LOCALRANKID"},
                               {"SLURM_PROCID", "SLURM_LOCALID"}};

std::optional<std::uint32_t> number(const EnvVars& environment, const char* name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  const auto value = parse_unsigned(found->second, topology::max_ranks - 1);
  return value ? std::optional<std::uint32_t>(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

}  // namespace

std::optional<RankIdentity> find_rank_identity(const EnvVars& environment) {
  for (const Names& names : launchers) {
    if (const auto rank = number(environment, names.rank)) {
      return RankIdentity{*rank, number(environment, names.local_rank)};
    }
  }
  return std::nullopt;
}

}  // namespace ddlrun::launch
