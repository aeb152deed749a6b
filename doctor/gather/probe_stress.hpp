// SPDX-License-Identifier: MIT
// Load over the job's network at level stress: the bundled allreduce over all hosts, then between neighbours,
// which distinguishes a slow host from the hosts that wait for it. Its facts join those of the driver host:
//   stress.bytes              of one rank's vector
//   stress.all                MB/s over all hosts (2 (n-1)/n x bytes / time), or why there is none
//   stress.hosts              how many took part
//   stress.pairs              one a line: "HOST HOST MB/s"; 0 where that run failed
#pragma once

#include "doctor/gather/probe_mpi.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace ddlrun::doctor {

// Neighbours of a ring of `count` hosts, in rounds in which no host is in two pairs; one pair for two hosts.
std::vector<std::vector<std::pair<std::size_t, std::size_t>>> plan_rounds(std::size_t count);

// About 2 s a round; at most the first 64 hosts.
Facts probe_stress(System& system, const SmokeRun& run);

}  // namespace ddlrun::doctor
