// SPDX-License-Identifier: MIT
// The plain launcher: ssh and ddlrun itself, no MPI. `ddlrun ssh-launch RUN/start.json` takes mpirun's place.
#pragma once

#include "launch/launchers/launcher.hpp"
#include "launch/ssh/ssh_launch_spec.hpp"

#include <string>

namespace ddlrun::launch {

struct SshRequest {
  RankMap rank_map;
  std::string run_directory;
  std::string workdir;  // where launch was called; the ranks' too, unless the rank map names another
  Exports exports;
  RankProgram program;
  std::string ssh = "ssh";
  std::vector<std::string> ssh_arguments;
};

// Error{request} for a word that cannot be carried.
LaunchCommand plan_ssh_command(const SshRequest& request);

}  // namespace ddlrun::launch
