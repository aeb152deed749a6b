// SPDX-License-Identifier: MIT
// Hosts and dims in the words of other launchers: `-H h1:4,h2:4`, `--ranks-per-host 4 --hosts-per-rack 2 --racks 3`.
#pragma once

#include "launch/plan/launch_options.hpp"
#include "topology/dims.hpp"

#include <cstddef>

namespace ddlrun::cli {

// -H becomes HOSTS; its counts become --ranks-per-host where they are equal, else host_ranks. Error{usage}:
// both ways at once, a count that is no number or missing at some hosts, different counts beside DIMS.
void resolve_hosts(LaunchOptions& options);

bool has_shape(const LaunchOptions& options);

// The dims of DIMS or of its factors one by one; what is not given: `ranks` for each of `hosts` hosts, one
// rack, one aisle. Error{usage}: DIMS and a factor; Error{request}: hosts that do not fit in so many racks.
topology::Dims settle_dims(const LaunchOptions& options, std::size_t hosts, std::uint32_t ranks);

}  // namespace ddlrun::cli
