// SPDX-License-Identifier: MIT
// Where each rank belongs: from a plan, or from a rankfile that somebody else made. Pure.
#pragma once

#include "topology/plan.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ddlrun::launch {

// Where one rank is meant to be.
struct PlannedRank {
  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
  std::string host;
  std::string slot;      // as the rankfile has it
  std::vector<int> pus;  // OS numbers, ascending
  int cores = 0;

  bool operator==(const PlannedRank&) const = default;
};

// Ascending by rank.
std::vector<PlannedRank> planned_ranks(const topology::Plan& plan);

// The same from a rankfile that somebody else made. `machines[i]` is the machine of `hosts[i]`,
// never null.
std::vector<PlannedRank> planned_ranks(const std::vector<rankfile::RankLine>& lines,
                                       const std::vector<std::string>& hosts,
                                       const std::vector<const topology::MachineTopology*>& machines,
                                       int mpi_major);

// Finds the host of a rank, or "". `ranks` outlive it.
std::function<std::string(std::uint32_t)> host_finder(const std::vector<PlannedRank>& ranks);

enum class HostOrder { one_each, round_robin, host_by_host, other };
// How ascending ranks are numbered over the hosts; one_each: no two hosts have several ranks.
HostOrder host_order(const std::vector<PlannedRank>& ranks);

}  // namespace ddlrun::launch
