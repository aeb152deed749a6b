// SPDX-License-Identifier: MIT
// The path to the hosts where none is named.
#pragma once

#include "base/os/system.hpp"
#include "doctor/run/doctor_gather.hpp"

namespace ddlrun::doctor {

// Sets the path of a request whose hosts are known: by srun inside a Slurm job that has all of them
// (find_step_hosts), else by ssh. Hosts where srun starts no step are reached by ssh.
void choose_path(System& system, DoctorRequest& request);

}  // namespace ddlrun::doctor
