// SPDX-License-Identifier: MIT
// The number of ranks of a host for "ddlrun launch" without DIMS.
#pragma once

#include "topology/machine.hpp"
#include "topology/plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct DefaultRanks {
  std::uint32_t ranks = 1;  // per host
  std::string reason;       // for people
};

// One rank per GPU; without GPUs as many as make about four per host, evenly over the packages and
// never more than one per `options.cores_per_rank` cores. Where machines differ, what the smallest
// of them has.
DefaultRanks default_ranks(const std::vector<topology::MachineTopology>& machines,
                           const topology::PlanOptions& options);

}  // namespace ddlrun::launch
