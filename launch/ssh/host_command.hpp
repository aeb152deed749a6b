// SPDX-License-Identifier: MIT
// The ssh command that reaches one host of a start without MPI, and the variables that identify each rank.
// Pure.
#pragma once

#include "launch/ssh/ssh_launch_spec.hpp"

#include <string>

namespace ddlrun::launch {

// What reaches one host: nothing of the user's stands on it, all that comes by stdin.
Command plan_host_command(const SshLaunchSpec& document, const RankMapHost& host, const std::string& ddlrun);

// The variables by which a rank of this launcher knows itself: DDLRUN_RANK, DDLRUN_SIZE, DDLRUN_LOCAL_RANK,
// DDLRUN_LOCAL_SIZE, DDLRUN_NODE_RANK, DDLRUN_NODE_COUNT.
EnvVars rank_identity_variables(const RankView& rank);

}  // namespace ddlrun::launch
