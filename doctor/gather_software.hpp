// SPDX-License-Identifier: MIT
// The gatherers of the software subject, one file each; the names of their facts stand at the top of it.
#pragma once

#include "doctor/gather.hpp"

namespace ddlrun::doctor {

void gather_ssh(const GatherContext& context, Facts& facts);               // gather_ssh.cpp
void gather_mpi(const GatherContext& context, Facts& facts);               // gather_mpi.cpp
void gather_mpi_details(const GatherContext& context, Facts& facts);       // level full
void gather_programs(const GatherContext& context, Facts& facts);          // gather_programs.cpp
void gather_program_contents(const GatherContext& context, Facts& facts);  // level full
void gather_python(const GatherContext& context, Facts& facts);            // gather_python.cpp
void gather_environment(const GatherContext& context, Facts& facts);       // gather_environment.cpp
void gather_cores(const GatherContext& context, Facts& facts);             // gather_cores.cpp
void gather_scheduler(const GatherContext& context, Facts& facts);  // gather_scheduler.cpp; on the head only

}  // namespace ddlrun::doctor
