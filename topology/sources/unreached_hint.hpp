// SPDX-License-Identifier: MIT
// What to try where a host was not reached.
#pragma once

#include "base/os/system.hpp"
#include "topology/sources/slurm_step.hpp"

#include <string>

namespace ddlrun::topology {

// "ddlrun doctor h22", with --via ssh where it would use srun and `path` does not; first "did you mean h2?"
// if nothing resolves the name by `failure`, ssh's own words, and /etc/hosts or the user's ssh configuration
// has a similar one.
std::string unreached_hint(System& system, const std::string& host, const std::string& failure,
                           HostPath path = HostPath::automatic);

}  // namespace ddlrun::topology
