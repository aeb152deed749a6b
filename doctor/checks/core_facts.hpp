// SPDX-License-Identifier: MIT
// The facts "cores.map" and "cores.numa" as a machine, in the order in which hwloc and so Open MPI count.
#pragma once

#include "doctor/model/facts.hpp"
#include "topology/machine.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::doctor {

// Nothing where the texts are missing or malformed.
std::optional<topology::MachineTopology> parse_cores(std::string_view map, std::string_view numa);
std::optional<topology::MachineTopology> machine_of(const Facts& facts);

// "2 packages x 10 cores x 8 threads, 2 NUMA nodes"; "packages of 8 and 10 cores, ..." where they differ.
std::string render_shape(const topology::MachineTopology& machine);

}  // namespace ddlrun::doctor
