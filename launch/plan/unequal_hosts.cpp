// SPDX-License-Identifier: MIT
#include "launch/plan/unequal_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::launch {

UnevenRanks plan_uneven_ranks(const std::vector<HostRanks>& hosts, const topology::PlanOptions& options) {
  UnevenRanks uneven;
  uneven.rankfile = "#host by host\n\n";
  std::uint32_t rank = 0;
  for (const HostRanks& host : hosts) {
    const topology::MachinePlan plan = topology::plan_machine(*host.machine, host.ranks, options);
    for (const std::string& remark : plan.remarks)
      uneven.remarks.push_back(fmt::format("{}: {}", host.host, remark));
    std::vector<RankBinding> bindings = make_rank_bindings(plan);
    const auto known = std::find(uneven.rank_map.kinds.begin(), uneven.rank_map.kinds.end(), bindings);
    const auto kind = static_cast<std::uint32_t>(known - uneven.rank_map.kinds.begin());
    if (known == uneven.rank_map.kinds.end()) uneven.rank_map.kinds.push_back(std::move(bindings));
    RankMapHost& seated = uneven.rank_map.hosts.emplace_back(RankMapHost{host.host, kind, {}});
    for (const topology::LocalPlacement& local : plan.ranks) {
      uneven.rankfile += fmt::format("rank {}={} slot={}\n", rank, host.host, local.slot);
      seated.ranks.push_back(rank++);
    }
  }
  RankGroup& all = uneven.rank_map.groups.emplace_back();
  all.ranks = rank;
  return uneven;
}

}  // namespace ddlrun::launch
