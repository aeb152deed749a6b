// SPDX-License-Identifier: MIT
// Which network a launch over several hosts uses: the one that all of them share, set for Open MPI, NCCL,
// Gloo and UCX, unless the user chose one by flags of theirs.
#pragma once

#include "base/os/system.hpp"
#include "doctor/parse/interfaces.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/plan/launch_spec.hpp"
#include "launch/rank/exports.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct JobNetwork {
  std::vector<doctor::NetworkSetting> settings;  // empty: nothing is set
  std::map<std::string, std::string> addresses;  // of each host in it, also where nothing needs setting
  std::string remark;                            // which network and why, for people
};

// Asks the hosts for their interfaces where that matters: several hosts, and neither --interface none nor a
// flag or variable that says which interfaces to use. --interface CIDR|NAME is what is used: Error{request}
// if it does not serve, Error{unreachable} if a host does not answer. Without it silent hosts leave the
// choice to mpirun.
JobNetwork choose_launch_network(System& system, const LaunchSpec& spec, const JobPlan& job);

// The settings as mpirun's own (--mca) and as variables that reach the ranks.
std::vector<std::array<std::string, 3>> mca_settings(const JobNetwork& network);  // name, value, why
void add_network(const JobNetwork& network, Exports& exports);

}  // namespace ddlrun::launch
