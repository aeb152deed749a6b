// SPDX-License-Identifier: MIT
// The gatherers of the software subject, one file each; the names of their facts stand at the top of it.
#pragma once

#include "doctor/model/gather.hpp"

namespace ddlrun::doctor {

void gather_ssh(const GatherContext& context, Facts& facts);               // gather/ssh.cpp
void gather_mpi(const GatherContext& context, Facts& facts);               // gather/mpi.cpp
void gather_mpi_details(const GatherContext& context, Facts& facts);       // level full
void gather_programs(const GatherContext& context, Facts& facts);          // gather/programs.cpp
void gather_program_contents(const GatherContext& context, Facts& facts);  // level full
void gather_python(const GatherContext& context, Facts& facts);            // gather/python.cpp
void gather_environment(const GatherContext& context, Facts& facts);       // gather/environment.cpp
void gather_cores(const GatherContext& context, Facts& facts);             // gather/cores.cpp
void gather_scheduler(const GatherContext& context,
                      Facts& facts);  // gather/scheduler.cpp; on the driver host only

}  // namespace ddlrun::doctor
