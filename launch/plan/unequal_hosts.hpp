// SPDX-License-Identifier: MIT
// Hosts that do not get the same number of ranks, `-H h1:4,h2:2`: there are no dims, so the ranks are
// numbered host by host, each host placed as a plan would place it. Pure.
#pragma once

#include "launch/rank/rank_map.hpp"
#include "topology/plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct HostRanks {
  std::string host;
  std::uint32_t ranks = 0;
  const topology::MachineTopology* machine = nullptr;  // never null
};

struct UnevenRanks {
  RankMap rank_map;
  std::string rankfile;
  std::vector<std::string> remarks;  // of the placement, for people
};

// Error{request} where a host has not so many cores or GPUs.
UnevenRanks plan_uneven_ranks(const std::vector<HostRanks>& hosts, const topology::PlanOptions& options);

}  // namespace ddlrun::launch
