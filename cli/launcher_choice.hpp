// SPDX-License-Identifier: MIT
// Which launcher starts the ranks: what --launcher names, else what is installed and the scheduler offers.
#pragma once

#include "base/doors.hpp"
#include "cli/launch_job.hpp"
#include "cli/launch_options.hpp"
#include "launch/launcher.hpp"
#include "launch/srun.hpp"

#include <string>
#include <vector>

namespace ddlrun::cli {

struct ChosenLauncher {
  launch::LauncherVersion version;
  std::string program = "mpirun";  // as it is called
  std::string remark;              // for people; "" where it goes without saying
};

// Asks programs for their --version. Error{usage} for an unknown name, or srun outside a job; Error{request}
// where it is missing, another one or too old.
ChosenLauncher choose_launcher(System& system, const LaunchOptions& options);

// srun's --mpi for the program; "" for its own default. Error{request} where it cannot start such a program.
std::string choose_srun_pmi(System& system, const ChosenLauncher& launcher, launch::ProgramMpi mpi,
                            LaunchJob& job);

// Error{request} for hosts that are not in Slurm's allocation.
void check_srun_hosts(System& system, const std::vector<std::string>& hosts);

// The sheet of the job: what --memory and --gpu-view say, and who binds. Remarks are added to the job's.
launch::RankSheet plan_rank_sheet(const LaunchOptions& options, const launch::Exports& exports,
                                  launch::LauncherKind launcher, LaunchJob& job);

}  // namespace ddlrun::cli
