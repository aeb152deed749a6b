// SPDX-License-Identifier: MIT
// The gatherers of the system subject, one file each; the names of their facts stand at the top of it.
#pragma once

#include "doctor/model/gather.hpp"

namespace ddlrun::doctor {

void gather_limits(const GatherContext& context, Facts& facts);     // gather/limits.cpp
void gather_cgroup(const GatherContext& context, Facts& facts);     // gather/cgroup.cpp
void gather_kernel(const GatherContext& context, Facts& facts);     // gather/kernel.cpp
void gather_cpu(const GatherContext& context, Facts& facts);        // gather/cpu.cpp
void gather_processes(const GatherContext& context, Facts& facts);  // gather/processes.cpp
void gather_stuck(const GatherContext& context, Facts& facts);      // gather/processes.cpp; level full
void gather_disks(const GatherContext& context, Facts& facts);      // gather/disks.cpp
void gather_data(const GatherContext& context, Facts& facts);       // gather/data.cpp
void gather_token(const GatherContext& context, Facts& facts);      // gather/token.cpp
void gather_clock(const GatherContext& context, Facts& facts);      // gather/clock.cpp
void gather_user(const GatherContext& context, Facts& facts);       // gather/security.cpp
void gather_security(const GatherContext& context, Facts& facts);   // gather/security.cpp

}  // namespace ddlrun::doctor
