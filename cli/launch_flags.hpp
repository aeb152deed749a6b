// SPDX-License-Identifier: MIT
// The flags of `ddlrun launch`, shared by the commands that start ranks.
#pragma once

#include "launch/plan/launch_flags.hpp"

namespace CLI {
class App;
}

namespace ddlrun::cli {

// Declares DIMS, HOSTS and all options of launch. `flags` must outlive `app`.
void add_launch_options(CLI::App& app, launch::LaunchFlags& flags);

}  // namespace ddlrun::cli
