// SPDX-License-Identifier: MIT
// The mpirun line of Open MPI 4 and 5 for a rankfile, with the reason of each flag.
#pragma once

#include "base/os/system.hpp"
#include "launch/launchers/launcher.hpp"

#include <string>
#include <string_view>

namespace ddlrun::launch {

struct MpirunVersion {
  int major = 0;
  int minor = 0;
  std::string text;  // "4.1.4"

  bool operator==(const MpirunVersion&) const = default;
};

// From what `mpirun --version` prints. Error{request} for another MPI's mpirun and for Open MPI
// before 3.
MpirunVersion parse_mpirun_version(std::string_view output);

// Error{request} where Open MPI 5 cannot take the rankfile's path. `environment` is the user's: what
// OMPI_MCA_ sets there is not set again.
LaunchCommand plan_open_mpi_command(const LaunchRequest& request, const EnvVars& environment);

}  // namespace ddlrun::launch
