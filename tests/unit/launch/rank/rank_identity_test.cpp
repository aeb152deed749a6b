// SPDX-License-Identifier: MIT
#include "launch/rank/rank_identity.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::find_rank_identity;
using launch::RankIdentity;
using launch::RankLauncher;

TEST_SUITE_BEGIN("launch/rank/rank_identity");

TEST_CASE("PMIx has no variable for the number of ranks: srun's own gives it") {
  const auto identity = find_rank_identity(
      {{"PMIX_RANK", "3"}, {"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"}, {"SLURM_NTASKS", "8"}});
  REQUIRE(identity);
  CHECK(identity->size == 8);
  CHECK(identity->local_rank == 1);
}

TEST_CASE("inherited numbers of an outer rank do not hide those of the launcher") {
  EnvVars inner{{"DDLRUN_RANK", "4"}, {"DDLRUN_SIZE", "8"}, {"OMPI_COMM_WORLD_RANK", "1"}};
  launch::forget_rank_numbers(inner);
  CHECK(find_rank_identity(inner) == RankIdentity{1, std::nullopt});
}

TEST_CASE("the variables of each launcher") {
  struct Row {
    EnvVars environment;
    std::optional<RankIdentity> identity;
  };
  for (const Row& row :
       {Row{{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}, RankIdentity{3, 1}},
        Row{{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"SLURM_NTASKS", "1"}},
            RankIdentity{3, std::nullopt, RankLauncher::open_mpi, 4}},
        Row{{{"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "5"}}, RankIdentity{3, std::nullopt}},
        Row{{{"DDLRUN_RANK", "4"}, {"DDLRUN_LOCAL_RANK", "2"}, {"SLURM_PROCID", "0"}},
            RankIdentity{4, 2, RankLauncher::ddlrun}},
        Row{{{"PMIX_RANK", "5"}}, RankIdentity{5, std::nullopt, RankLauncher::pmix}},
        Row{{{"PMI_RANK", "2"}, {"MPI_LOCALRANKID", "0"}}, RankIdentity{2, 0, RankLauncher::hydra}},
        Row{{{"SLURM_PROCID", "7"}, {"SLURM_LOCALID", "3"}}, RankIdentity{7, 3, RankLauncher::slurm}},
        // srun --mpi=pmi2 and pmix
        Row{{{"PMI_RANK", "7"}, {"SLURM_PROCID", "7"}, {"SLURM_LOCALID", "3"}},
            RankIdentity{7, 3, RankLauncher::slurm}},
        Row{{{"PMIX_RANK", "7"}, {"SLURM_PROCID", "7"}, {"SLURM_LOCALID", "3"}},
            RankIdentity{7, 3, RankLauncher::slurm}},
        // hydra inside a batch script
        Row{{{"PMI_RANK", "2"}, {"MPI_LOCALRANKID", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}},
            RankIdentity{2, 1, RankLauncher::hydra}},
        Row{{{"OMPI_COMM_WORLD_RANK", "x"}, {"SLURM_PROCID", "7"}},
            RankIdentity{7, std::nullopt, RankLauncher::slurm}},
        Row{{{"OMPI_COMM_WORLD_RANK", "-1"}}, std::nullopt}, Row{{}, std::nullopt}}) {
    CHECK(find_rank_identity(row.environment) == row.identity);
  }
}

TEST_SUITE_END();
