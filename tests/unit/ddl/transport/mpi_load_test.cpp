// SPDX-License-Identifier: MIT
#include "ddl/transport/mpi_plugin.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace {

using ddl::MpiKind;
using Variables = std::map<std::string, std::string>;

TEST_SUITE("ddl/transport/mpi_load") {
  TEST_CASE("which MPI to load: the process's, the launcher's, else Open MPI before MPICH") {
    const std::vector<MpiKind> open_mpi{MpiKind::open_mpi}, mpich{MpiKind::mpich},
        open_mpi_first{MpiKind::open_mpi, MpiKind::mpich}, mpich_first{MpiKind::mpich, MpiKind::open_mpi};
    struct Row {
      std::optional<MpiKind> loaded;
      Variables variables;  // as mpirun and srun set them
      std::vector<MpiKind> expected;
    };
    for (const Row& row : {
             Row{{}, {{"OMPI_COMM_WORLD_RANK", "0"}, {"PMIX_RANK", "0"}}, open_mpi},  // Open MPI 4 and 5
             Row{{}, {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, mpich_first},            // hydra
             Row{{}, {{"PMI_RANK", "1"}, {"SLURM_PROCID", "1"}}, mpich_first},        // srun --mpi=pmi2
             Row{{}, {{"PMIX_RANK", "1"}, {"SLURM_PROCID", "1"}}, open_mpi_first},    // srun --mpi=pmix
             Row{{}, {{"SLURM_PROCID", "0"}}, open_mpi_first},
             Row{MpiKind::mpich, {{"OMPI_COMM_WORLD_RANK", "0"}}, mpich},
             Row{MpiKind::open_mpi, {{"PMI_RANK", "0"}}, open_mpi},
         }) {
      const auto variable = [&](const char* name) {
        const auto found = row.variables.find(name);
        return found == row.variables.end() ? nullptr : found->second.c_str();
      };
      CAPTURE(row.variables.empty() ? "" : row.variables.begin()->first);
      CHECK(ddl::order_mpi(row.loaded, variable) == row.expected);
    }
  }

  TEST_CASE("this program has loaded no MPI") { CHECK_FALSE(ddl::loaded_mpi()); }
}

}  // namespace
