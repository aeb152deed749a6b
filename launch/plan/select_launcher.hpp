// SPDX-License-Identifier: MIT
// The launcher that starts the ranks: the one of --launcher, else one that is installed.
#pragma once

#include "base/os/system.hpp"
#include "launch/launchers/launcher.hpp"
#include "launch/launchers/srun.hpp"
#include "launch/plan/launch_spec.hpp"
#include "topology/sources/slurm_step.hpp"

#include <string>
#include <vector>

namespace ddlrun::launch {

// Runs the candidates with --version. Error{usage} for srun outside a Slurm job; Error{request} for a
// launcher that is missing, of another kind or too old. With `dry_run` a missing MPI is a remark: the command
// is for another machine.
SelectedLauncher select_launcher(System& system, const LauncherSpec& spec, bool dry_run = false);

// How this launcher reaches other hosts in a Slurm job: srun, Open MPI and hydra start their processes by
// srun, unless the user selects another plm of Open MPI or another bootstrap of hydra.
topology::HostPath find_host_path(LauncherKind kind, const LauncherWords& words, const EnvVars& environment);

// The major version of Open MPI whose form the rankfile has. Other launchers do not read it: for them it
// shows the plan in a form that people know.
int rankfile_major(const LauncherVersion& launcher);

// srun's --mpi for the program; "" for its own default. Error{request} where it cannot start such a program.
std::string choose_srun_pmi(System& system, const SelectedLauncher& launcher, ProgramMpi mpi,
                            std::vector<std::string>& remarks);

bool in_slurm_job(const Environment& environment);
bool in_scheduler_job(const Environment& environment);  // of Slurm or PBS

// Error{request} for hosts that are not in Slurm's allocation.
void check_srun_hosts(System& system, const std::vector<std::string>& hosts);

}  // namespace ddlrun::launch
