// SPDX-License-Identifier: MIT
// Options of mpirun, mpiexec, srun, torchrun and horovodrun on a command line of `ddlrun launch`, and of qsub
// and sbatch on one of `ddlrun submit`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::cli {

// Replaces other spellings of the command's own options: "-np 4", "-hostfile F", "-machinefile F", "-rf F".
// CLI11 reads the first as "-n p". Values of options that pass an argument on (--mpi-arg) stay.
void accept_launcher_spellings(const std::vector<std::string>& own_options, std::vector<std::string>& words);

// The first word such as "-npernode", which CLI11 would read as "-n pernode"; "" where there is none.
std::string find_short_foreign_option(const std::vector<std::string>& words);

// What to write instead of an option that launch lacks: "-ppn" -> "DIMS: 2x3 ..."; "" where it is not known.
std::string_view remedy_for_foreign_option(std::string_view typed);

// The same for submit: "-t" -> "--walltime TIME".
std::string_view remedy_for_job_option(std::string_view typed);

// What describes the machine of a plan, instead of an option of submit: "--site" -> "--sockets 1 ...".
std::string_view remedy_for_machine_option(std::string_view typed);

}  // namespace ddlrun::cli
