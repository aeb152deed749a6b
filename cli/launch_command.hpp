// SPDX-License-Identifier: MIT
// `ddlrun launch` for the commands that start ranks too.
#pragma once

#include "base/doors.hpp"
#include "cli/launch_options.hpp"

namespace CLI {
class App;
}

namespace ddlrun::cli {

// Declares DIMS, HOSTS and all options of launch. `options` must outlive `app`.
void add_launch_options(CLI::App& app, LaunchOptions& options);

// Plans, checks, runs; returns the program's exit status.
int run_launch_command(System& system, const LaunchOptions& options);

}  // namespace ddlrun::cli
