// SPDX-License-Identifier: MIT
// The srun line inside a Slurm allocation: any rank order by --distribution=arbitrary, cores by `ddlrun
// exec`.
#pragma once

#include "launch/launchers/launcher.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// Which MPI a program is linked with. unknown: a script, a static program, what is not here.
enum class ProgramMpi { unknown, none, open_mpi, mpich };

// From the names of the libraries that a program needs, its own and theirs.
ProgramMpi mpi_of(const std::vector<std::string>& libraries);

// The names in what `srun --mpi=list` prints, on either stream.
std::vector<std::string> parse_pmi_list(std::string_view text);

// What --mpi is to be. Error{request} where srun has nothing by which the program's MPI could start.
std::string choose_pmi(ProgramMpi mpi, const std::vector<std::string>& offered);

// Why ssh starts the ranks: by --launcher ssh, or because no mpirun is here.
std::string place_of_ssh(bool has_mpirun);
// The launcher of a program's MPI, "--launcher openmpi", with how to install it where no mpirun is here.
std::string mpi_launcher_hint(ProgramMpi mpi, bool has_mpirun);

// Refuses a program whose MPI the launcher does not serve: each rank would take itself for rank 0 of 1.
// `has_mpirun`: for ssh only.
void check_program_mpi(ProgramMpi mpi, LauncherKind launcher, bool has_mpirun = false);

LaunchCommand plan_srun_command(const LaunchRequest& request, const EnvVars& environment);

}  // namespace ddlrun::launch
