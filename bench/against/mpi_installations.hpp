// SPDX-License-Identifier: MIT
// The MPI libraries of a machine, each by its mpirun.
#pragma once

#include "base/os/system.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::bench_against {

struct MpiInstallation {
  std::string mpirun;     // its path
  std::string version;    // "Open MPI 4.1.4", of mpirun --version
  std::string libraries;  // the directory of a libmpi that the loader would not find; "" where none is needed
};

// `choice`: "all", or paths of mpirun, separated by commas. "all" is mpirun, mpirun.openmpi and mpirun.mpich
// of all directories in PATH and of $I_MPI_ROOT/bin, each version once. Throws Error(usage) for a path that
// is no mpirun, Error(request) where none is found.
std::vector<MpiInstallation> find_mpi_installations(System& system, std::string_view choice);

}  // namespace ddlrun::bench_against
