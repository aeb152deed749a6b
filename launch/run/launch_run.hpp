// SPDX-License-Identifier: MIT
// The run itself: run folder, mpirun in the foreground, each rank's place compared with the plan,
// exit status.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/run_record.hpp"
#include "launch/launchers/launcher.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/run/launch_output.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ddlrun::cli {

// Where this run's files go: --run-dir, or a new one below the user's state folder.
// `create` false only names it, for a dry run. Error{request} if the folder holds a run already.
std::string choose_run_folder(System& system, const std::string& wanted, bool create);

struct LaunchRun {
  const JobPlan& job;
  launch::LauncherKind launcher = launch::LauncherKind::open_mpi;
  launch::LaunchCommand line;
  launch::Exports exports;
  launch::RunRecord record;
  std::string folder;
  std::string token;    // marks what ranks tell; empty: they tell nothing
  bool verify = false;  // they tell their places
  bool watch = false;   // they tell how they fare
  bool end_on_stall = false;
  bool diagnose = false;  // says why it ended badly
  bool strict = false;
  OutputPlan output = {};
  std::set<std::uint32_t> serving = {};  // ranks to be ended once all others have ended well
  std::string mismatch_hint;             // what to type if a rank is not where it was planned
  std::string result_path = {};          // the file that rank 0 may write; "": it may not
};

struct LaunchEnd {
  int status = 0;       // the program's; with `strict` 1 if that is 0 but a rank is not where it was planned
  int stop_signal = 0;  // the signal by which somebody ended it, or 0
  std::vector<std::string> lost_hosts;
};

LaunchEnd run_launch(System& system, LaunchRun run);

}  // namespace ddlrun::cli
