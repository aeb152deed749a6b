// SPDX-License-Identifier: MIT
// The plain launcher: ssh and ddlrun itself, no MPI. `ddlrun start-hosts RUN/start.json` plays mpirun's part.
#pragma once

#include "launch/start_document.hpp"

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

// What reaches one host: nothing of the user's stands on it, all that comes by stdin.
Command plan_host_command(const StartDocument& document, const SheetHost& host, const std::string& ddlrun);

// The variables by which a rank of this launcher knows itself: DDLRUN_RANK, DDLRUN_SIZE, DDLRUN_LOCAL_RANK,
// DDLRUN_LOCAL_SIZE, DDLRUN_NODE_RANK, DDLRUN_NODE_COUNT.
EnvVars rank_identity_variables(const SheetRank& rank);

}  // namespace ddlrun::launch
