// SPDX-License-Identifier: MIT
// The gatherers of names and networks, one file each; the names of their facts stand at the top of it.
#pragma once

#include "doctor/model/gather.hpp"

namespace ddlrun::doctor {

void gather_names(const GatherContext& context, Facts& facts);       // gather/resolution.cpp
void gather_interfaces(const GatherContext& context, Facts& facts);  // gather/interfaces.cpp
void gather_ports(const GatherContext& context, Facts& facts);       // gather/ports.cpp
void gather_pairs(const GatherContext& context, Facts& facts);       // gather/pairs.cpp; level full
void gather_children(const GatherContext& context, Facts& facts);    // gather/children.cpp; level full

}  // namespace ddlrun::doctor
