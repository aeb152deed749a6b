// SPDX-License-Identifier: MIT
#include "launch/rank/planned_rank.hpp"

#include "topology/rankfile/slot_list.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace ddlrun::launch {

namespace {

std::vector<int> numbers(const std::vector<topology::PuIndex>& pus) {
  std::vector<int> result;
  for (const topology::PuIndex& pu : pus) result.push_back(pu.os);
  return result;
}

}  // namespace

std::vector<PlannedRank> planned_ranks(const topology::Plan& plan) {
  std::vector<PlannedRank> ranks;
  for (const topology::Placement& at : plan.by_rank()) {
    ranks.push_back({at.rank, at.local_rank, plan.hosts[at.host], at.local->slot, numbers(at.local->pus),
                     static_cast<int>(at.local->cores.size())});
  }
  return ranks;
}

std::vector<PlannedRank> planned_ranks(const std::vector<rankfile::RankLine>& lines,
                                       const std::vector<std::string>& hosts,
                                       const std::vector<const topology::MachineTopology*>& machines,
                                       int mpi_major) {
  std::vector<PlannedRank> ranks;
  for (const rankfile::RankLine& line : lines) {
    const auto host = std::find(hosts.begin(), hosts.end(), line.host);
    if (host == hosts.end()) continue;
    const auto& machine = *machines[static_cast<std::size_t>(host - hosts.begin())];
    const auto cores = rankfile::resolve_slots(line.slots, machine, mpi_major);
    ranks.push_back({line.rank, 0, line.host, line.slots, numbers(rankfile::pus_of_cores(machine, cores)),
                     static_cast<int>(cores.size())});
  }
  std::sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  std::map<std::string, std::uint32_t> next;  // local ranks follow the rank order
  for (PlannedRank& rank : ranks) rank.local_rank = next[rank.host]++;
  return ranks;
}

std::function<std::string(std::uint32_t)> host_finder(const std::vector<PlannedRank>& ranks) {
  return [&ranks](std::uint32_t rank) {
    const auto planned = std::ranges::find(ranks, rank, &PlannedRank::rank);
    return planned == ranks.end() ? std::string() : planned->host;
  };
}

HostOrder host_order(const std::vector<PlannedRank>& ranks) {
  std::map<std::string_view, std::size_t> count;
  bool by_host = true;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    by_host = (++count[ranks[i].host] == 1 || ranks[i - 1].host == ranks[i].host) && by_host;
  if (std::ranges::count_if(count, [](const auto& host) { return host.second > 1; }) < 2)
    return HostOrder::one_each;
  if (by_host) return HostOrder::host_by_host;
  const std::size_t hosts = count.size();
  for (std::size_t i = hosts; i < ranks.size(); ++i)
    if (ranks[i].host != ranks[i - hosts].host) return HostOrder::other;
  return HostOrder::round_robin;
}

}  // namespace ddlrun::launch
