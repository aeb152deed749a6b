// SPDX-License-Identifier: MIT
// The run itself: the run directory's files, the launcher in the foreground, each rank's place compared with
// the plan, the exit status.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/run_record.hpp"
#include "launch/launchers/launcher.hpp"
#include "launch/plan/launch_plan.hpp"

#include <string>
#include <vector>

namespace ddlrun::cli {

struct LaunchRun {
  const LaunchSpec& spec;
  const LaunchPlan& plan;
  launch::LaunchCommand command;
  launch::RunRecord record;
  std::string run_dir;
};

struct LaunchEnd {
  int status = 0;       // of the program; with --strict 1 if that is 0 but a rank ran elsewhere than planned
  int stop_signal = 0;  // the signal by which the user or the scheduler stopped it, or 0
  std::vector<std::string> lost_hosts;
};

// Error{request} if the launcher cannot be started.
LaunchEnd run_launch(System& system, LaunchRun run);

}  // namespace ddlrun::cli
