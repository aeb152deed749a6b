// SPDX-License-Identifier: MIT
#include "launch/plan/uneven_ranks.hpp"

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
    std::vector<Seat> seats = make_seats(plan);
    const auto known = std::find(uneven.sheet.kinds.begin(), uneven.sheet.kinds.end(), seats);
    const auto kind = static_cast<std::uint32_t>(known - uneven.sheet.kinds.begin());
    if (known == uneven.sheet.kinds.end()) uneven.sheet.kinds.push_back(std::move(seats));
    SheetHost& seated = uneven.sheet.hosts.emplace_back(SheetHost{host.host, kind, {}});
    for (const topology::LocalPlacement& local : plan.ranks) {
      uneven.rankfile += fmt::format("rank {}={} slot={}\n", rank, host.host, local.slot);
      seated.ranks.push_back(rank++);
    }
  }
  RankGroup& all = uneven.sheet.groups.emplace_back();
  all.ranks = rank;
  return uneven;
}

}  // namespace ddlrun::launch
