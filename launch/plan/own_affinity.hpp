// SPDX-License-Identifier: MIT
// The processors that this process may use, as taskset sets them, beside those that the plan uses.
#pragma once

#include "base/os/system.hpp"
#include "launch/rank/planned_rank.hpp"

#include <string>
#include <vector>

namespace ddlrun::launch {

// A remark where ranks of this host are planned on processors that this process may not use; else "". Such a
// mask is no limit for the ranks: the kernel lets a process leave it, and the launcher binds each rank anew.
// hwloc leaves out what a cpuset forbids, so a plan never uses that.
std::string remark_on_own_affinity(System& system, const std::vector<PlannedRank>& ranks);

}  // namespace ddlrun::launch
