// SPDX-License-Identifier: MIT
// A host that goes away before a rank has spoken looks to Open MPI like a firewall; the scheduler may know
// better.
#pragma once

#include "base/os/system.hpp"

#include <string>
#include <vector>

namespace ddlrun::launch {

// Those of `hosts` that Slurm has for down or silent, each with its state: "node2 (down*)". Asks only in a
// job of Slurm; nothing where it does not answer.
std::vector<std::string> find_down_hosts(System& system, const std::vector<std::string>& hosts);

}  // namespace ddlrun::launch
