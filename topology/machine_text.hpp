// SPDX-License-Identifier: MIT
// A machine as text for people: packages, NUMA nodes, cores as ranges, GPUs and NICs under what
// they hang on.
#pragma once

#include "topology/machine.hpp"

#include <string>

namespace ddlrun::topology {

// Plain text, no colour, ends in a newline; foreign names are made printable.
std::string render_machine_text(const MachineTopology& machine);

// "20 cores x 8 threads in 2 packages, 4 GPUs": one line for a run directory or a plan's header.
std::string render_machine_summary(const MachineTopology& machine);

}  // namespace ddlrun::topology
