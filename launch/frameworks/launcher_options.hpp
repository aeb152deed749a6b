// SPDX-License-Identifier: MIT
// What the own options of horovodrun and mpirun become where ddlrun starts the ranks.
#pragma once

#include "launch/frameworks/nested_launcher.hpp"

#include <string>
#include <vector>

namespace ddlrun::frameworks {

struct LauncherOptions {
  std::vector<std::string> variables;  // "HOROVOD_CYCLE_TIME=3.5"
  std::vector<std::string> left_out;   // as typed: "--ssh-port 2222"
  std::vector<std::string> unknown;    // its values, if any, may be in the program
};

// Without those for ranks, hosts, places, binding and exports, which DIMS, the scheduler and launch replace.
LauncherOptions sort_launcher_options(const NestedLauncher& launcher);

}  // namespace ddlrun::frameworks
