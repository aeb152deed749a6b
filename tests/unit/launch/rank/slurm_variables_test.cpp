// SPDX-License-Identifier: MIT
// Slurm's variables of ranks that mpirun starts inside a Slurm job, and of ranks that Slurm starts.
#include "launch/rank/slurm_variables.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::correct_slurm_variables;
using launch::find_rank_identity;

TEST_SUITE_BEGIN("launch/rank/slurm_variables");

TEST_CASE("a rank of mpirun has the variables that srun would give it") {
  // As a rank on a second host has them: those of mpirun's daemon, which srun started.
  EnvVars environment{{"SLURM_JOB_ID", "7"},         {"SLURM_PROCID", "0"},
                      {"SLURM_NTASKS", "1"},         {"OMPI_COMM_WORLD_RANK", "3"},
                      {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
  const auto identity = find_rank_identity(environment);
  REQUIRE(identity);
  const EnvVars all{{"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"}, {"SLURM_NODEID", "1"},
                    {"SLURM_NTASKS", "4"}, {"SLURM_NPROCS", "4"},  {"SLURM_STEP_NUM_TASKS", "4"}};
  CHECK(correct_slurm_variables(*identity, 1, environment) == all);
  environment.erase("SLURM_JOB_ID");
  CHECK(correct_slurm_variables(*identity, 1, environment).empty());
}

TEST_CASE("what Slurm started itself is left as it is") {
  const EnvVars environment{{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "4"}};
  const auto identity = find_rank_identity(environment);
  REQUIRE(identity);
  CHECK(correct_slurm_variables(*identity, std::nullopt, environment).empty());
}

TEST_SUITE_END();
