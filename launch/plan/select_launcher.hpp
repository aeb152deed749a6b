// SPDX-License-Identifier: MIT
// Which launcher starts the ranks: what --launcher names, else what is installed and the scheduler offers.
#pragma once

#include "base/os/system.hpp"
#include "launch/launchers/launcher.hpp"
#include "launch/launchers/srun.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/plan/launch_options.hpp"

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
ChosenLauncher select_launcher(System& system, const LaunchOptions& options);

// Whose words a rankfile is written in. It is Open MPI's; for the others it is the plan in a form that people
// know.
int rankfile_major(const launch::LauncherVersion& launcher);

// srun's --mpi for the program; "" for its own default. Error{request} where it cannot start such a program.
std::string choose_srun_pmi(System& system, const ChosenLauncher& launcher, launch::ProgramMpi mpi,
                            JobPlan& job);

// Error{request} for hosts that are not in Slurm's allocation.
void check_srun_hosts(System& system, const std::vector<std::string>& hosts);

}  // namespace ddlrun::cli
