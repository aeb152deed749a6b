// SPDX-License-Identifier: MIT
// mpirun's own words for binding and mapping: what launch does of them, and what to type for the others.
// Pure.
#pragma once

#include "launch/plan/launch_flags.hpp"

#include <string>
#include <vector>

namespace ddlrun::launch {

enum class Binding {
  share,  // each rank to its share of the cores
  core,   // each rank to one core, as mpirun does; to N with --cores-per-rank N
  none,   // no rank
};

// Of --bind-to. Error{usage} with what to type for another unit of mpirun's.
Binding parse_binding(const std::string& unit);

// Error{usage} for a unit of mpirun's --map-by, with the options of launch that place these ranks so.
// `slots`: of the hosts, by -H or the hostfile; or empty.
void refuse_mapping(const LaunchFlags& flags, const std::vector<std::string>& hosts,
                    const std::vector<std::uint32_t>& slots);

// Error{usage} for --mpi-arg and --mca that bind or map. ddlrun's rankfile and `ddlrun exec` come before what
// mpirun gets of binding: it would have no effect, or contradict the rankfile.
void refuse_placement_arguments(const LaunchFlags& flags);

}  // namespace ddlrun::launch
