// SPDX-License-Identifier: MIT
// The plain launcher: ssh and ddlrun itself, no MPI. `ddlrun start-hosts RUN/start.json` plays mpirun's part.
#pragma once

#include "launch/launchers/launcher.hpp"
#include "launch/ssh/start_document.hpp"

#include <string>

namespace ddlrun::launch {

struct SshRequest {
  RankSheet sheet;
  std::string run_folder;
  std::string working_folder;  // where launch was called: the ranks' too, unless the sheet says another
  Exports exports;
  RankProgram program;
  std::string ssh = "ssh";
  std::vector<std::string> ssh_arguments;
};

// Error{request} for a word that cannot be carried.
LaunchLine plan_ssh_line(const SshRequest& request);

}  // namespace ddlrun::launch
