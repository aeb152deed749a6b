// SPDX-License-Identifier: MIT
// One launch, from options to exit status: plan, check, show the launcher's line, run it, restart it.
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/launch_options.hpp"

namespace ddlrun::cli {

// Plans, checks, runs; returns the program's exit status.
int run_launch_command(System& system, const LaunchOptions& options);

}  // namespace ddlrun::cli
