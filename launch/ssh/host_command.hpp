// SPDX-License-Identifier: MIT
// The ssh command that reaches one host of a start without MPI. Pure.
#pragma once

#include "launch/ssh/ssh_launch_spec.hpp"

#include <string>

namespace ddlrun::launch {

// What reaches one host: nothing of the user's stands on it, all that comes by stdin.
Command plan_host_command(const SshLaunchSpec& document, const RankMapHost& host, const std::string& ddlrun);

}  // namespace ddlrun::launch
