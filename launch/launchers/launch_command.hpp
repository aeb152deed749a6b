// SPDX-License-Identifier: MIT
// The command of any launcher.
#pragma once

#include "launch/launchers/launcher.hpp"

#include <string>
#include <string_view>

namespace ddlrun::launch {

// From what `mpirun --version` or `srun --version` prints. Error{request} for an unknown launcher and
// for Open MPI before 3.
LauncherVersion parse_launcher_version(std::string_view output);

// Error{request} where the launcher cannot do what is asked. `environment` is the user's: what is set there
// for the launcher is not set again.
LaunchCommand plan_launch_command(const LaunchRequest& request, const EnvVars& environment = {});

// The line as people see it: settings of ddlrun in front, the user's values left out.
std::string render_launch_command(const LaunchCommand& line, const Exports& exports);

}  // namespace ddlrun::launch
