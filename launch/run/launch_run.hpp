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

namespace ddlrun::launch {

struct LaunchRun {
  const LaunchSpec& spec;
  const LaunchPlan& plan;
  LaunchCommand command;
  RunRecord record;
  std::string run_dir;
  std::string start_text = {};  // for the screen, once `history` has the run: "last" means it from then on
};

}  // namespace ddlrun::launch
