// SPDX-License-Identifier: MIT
// One launch from its spec to its exit status: plan, print, run, restart.
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/launch_spec.hpp"

namespace ddlrun::launch {

// The program's exit status; 0 after a dry run. Throws what plan_launch() throws.
int run_launch_spec(System& system, const LaunchSpec& spec);

}  // namespace ddlrun::launch
