// SPDX-License-Identifier: MIT
#include "launch/rank/rank_identity.hpp"

#include "base/text/text.hpp"
#include "topology/dims.hpp"

namespace ddlrun::launch {

namespace {

struct Names {
  const char* rank;
  const char* local_rank;
  RankLauncher launcher;
  const char* size;
};

// Ours first: a job script of Slurm's is a process of Slurm's, too.
constexpr Names launchers[] = {
    {"DDLRUN_RANK", "DDLRUN_LOCAL_RANK", RankLauncher::ddlrun, "DDLRUN_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", RankLauncher::open_mpi, "OMPI_COMM_WORLD_SIZE"},
    {"PMIX_RANK", "PMIX_LOCAL_RANK", RankLauncher::pmix, ""},
    {"PMI_RANK", "MPI_LOCALRANKID", RankLauncher::hydra, "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_LOCALID", RankLauncher::slurm, "SLURM_NTASKS"}};

std::optional<std::uint32_t> number(const EnvVars& environment, const char* name,
                                    std::uint64_t most = topology::max_ranks - 1) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  const auto value = parse_unsigned(found->second, most);
  return value ? std::optional<std::uint32_t>(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

}  // namespace

std::optional<RankIdentity> find_rank_identity(const EnvVars& environment) {
  for (const Names& names : launchers) {
    const auto rank = number(environment, names.rank);
    if (!rank) continue;
    RankIdentity identity{*rank, number(environment, names.local_rank), names.launcher,
                          number(environment, names.size, topology::max_ranks)};
    // srun with a PMI of either kind: its own variables know the local rank.
    if (!identity.local_rank && number(environment, "SLURM_PROCID") == rank) {
      identity.local_rank = number(environment, "SLURM_LOCALID");
      identity.launcher = RankLauncher::slurm;
      if (!identity.size) identity.size = number(environment, "SLURM_NTASKS", topology::max_ranks);
    }
    return identity;
  }
  return std::nullopt;
}

void forget_rank_numbers(EnvVars& environment) {
  for (const char* name : {launchers[0].rank, launchers[0].local_rank, launchers[0].size})
    environment.erase(name);
}

}  // namespace ddlrun::launch
