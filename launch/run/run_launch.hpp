// SPDX-License-Identifier: MIT
// The run itself: the run directory's files, the launcher in the foreground, each rank's place compared with
// the plan, the exit status.
#pragma once

#include "base/os/system.hpp"
#include "launch/run/launch_run.hpp"

#include <string>
#include <vector>

namespace ddlrun::launch {

struct LaunchEnd {
  int status = 0;       // of the program; with --strict 1 if that is 0 but a rank ran elsewhere than planned
  int stop_signal = 0;  // the signal by which the user or the scheduler stopped it, or 0
  std::vector<std::string> lost_hosts;
};

// Error{request} if the launcher cannot be started.
LaunchEnd run_launch(System& system, LaunchRun run);

}  // namespace ddlrun::launch
