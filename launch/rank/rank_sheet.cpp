// SPDX-License-Identifier: MIT
#include "launch/rank/rank_sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace ddlrun::launch {

namespace {

RankGroup whole_group(std::size_t ranks) {
  RankGroup group;
  group.ranks = static_cast<std::uint32_t>(ranks);
  return group;
}

const RankGroup* group_of(const RankSheet& sheet, std::uint32_t rank) {
  const auto found = std::find_if(sheet.groups.begin(), sheet.groups.end(), [&](const RankGroup& group) {
    return rank >= group.first && rank - group.first < group.ranks;
  });
  return found == sheet.groups.end() ? nullptr : &*found;
}

const Seat* seat_at(const RankSheet& sheet, const SheetHost& host, std::size_t local_rank) {
  if (host.kind >= sheet.kinds.size() || local_rank >= sheet.kinds[host.kind].size()) return nullptr;
  return &sheet.kinds[host.kind][local_rank];
}

using Word = std::pair<std::string_view, std::string>;

std::array<Word, 11> words_of(const SheetRank& rank) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  const int gpu = rank.seat == nullptr ? -1 : rank.seat->gpu;
  return {Word{"{rank}", number(rank.rank)},
          Word{"{size}", number(rank.size)},
          Word{"{local_rank}", number(rank.local_rank)},
          Word{"{local_size}", number(rank.local_size)},
          Word{"{node}", number(rank.node)},
          Word{"{nodes}", number(rank.nodes)},
          Word{"{group_rank}", number(rank.group_rank)},
          Word{"{group_size}", number(rank.group_size)},
          Word{"{host}", rank.host},
          Word{"{gpu}", gpu < 0 ? "" : number(gpu)},
          Word{"{nic}", rank.seat == nullptr ? "" : rank.seat->nic}};
}

}  // namespace

std::uint32_t RankSheet::size() const {
  std::size_t ranks = 0;
  for (const SheetHost& host : hosts) ranks += host.ranks.size();
  return static_cast<std::uint32_t>(ranks);
}

bool RankSheet::says_something() const {
  return bind || memory != MemoryPolicy::leave || gpu_view != GpuView::leave || !working_folder.empty() ||
         !result.empty() || groups.size() > 1 ||
         std::any_of(groups.begin(), groups.end(), [](const RankGroup& group) {
           return !group.program.empty() || !group.arguments.empty() || !group.variables.empty();
         });
}

std::optional<SheetRank> find_sheet_rank(const RankSheet& sheet, std::uint32_t rank) {
  const RankGroup* group = group_of(sheet, rank);
  if (group == nullptr) return std::nullopt;
  for (std::size_t node = 0; node < sheet.hosts.size(); ++node) {
    const SheetHost& host = sheet.hosts[node];
    const auto at = std::lower_bound(host.ranks.begin(), host.ranks.end(), rank);
    if (at == host.ranks.end() || *at != rank) continue;
    const auto local_rank = static_cast<std::size_t>(at - host.ranks.begin());
    return SheetRank{rank,
                     sheet.size(),
                     static_cast<std::uint32_t>(local_rank),
                     static_cast<std::uint32_t>(host.ranks.size()),
                     static_cast<std::uint32_t>(node),
                     static_cast<std::uint32_t>(sheet.hosts.size()),
                     rank - group->first,
                     group->ranks,
                     host.name,
                     seat_at(sheet, host, local_rank),
                     group};
  }
  return std::nullopt;
}

std::vector<std::string> hosts_of_ranks(const RankSheet& sheet) {
  std::vector<std::string> hosts(sheet.size());
  for (const SheetHost& host : sheet.hosts) {
    for (const std::uint32_t rank : host.ranks) {
      if (rank < hosts.size()) hosts[rank] = host.name;
    }
  }
  return hosts;
}

std::string fill_words(std::string_view text, const SheetRank& rank) {
  const auto words = words_of(rank);
  std::string filled;
  while (!text.empty()) {
    const auto word = std::find_if(words.begin(), words.end(),
                                   [&](const Word& known) { return text.starts_with(known.first); });
    if (word != words.end()) {
      filled += word->second;
      text.remove_prefix(word->first.size());
    } else {
      filled += text.front();
      text.remove_prefix(1);
    }
  }
  return filled;
}

Seat make_seat(const topology::MachineTopology& machine, const std::vector<topology::PuIndex>& pus,
               int numa_node, int gpu) {
  Seat seat;
  for (const topology::PuIndex& pu : pus) seat.pus.push_back(pu.os);
  for (const topology::NumaNode& node : machine.numa_nodes) {
    if (node.logical == numa_node) seat.numa_node = node.os;
  }
  seat.gpu = gpu;
  if (gpu >= 0) seat.gpu_pci = machine.gpus[static_cast<std::size_t>(gpu)].pci_bus_id;
  return seat;
}

std::vector<Seat> make_seats(const topology::MachinePlan& plan) {
  std::vector<Seat> seats;
  for (const topology::LocalPlacement& local : plan.ranks) {
    seats.push_back(make_seat(plan.machine, local.pus, local.numa_node, local.gpu));
    seats.back().nic = local.nic;
  }
  return seats;
}

RankSheet make_rank_sheet(const topology::Plan& plan) {
  RankSheet sheet;
  for (const topology::MachinePlan& machine : plan.machines) {
    sheet.kinds.push_back(make_seats(machine));
  }
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    sheet.hosts.push_back({plan.hosts[i], plan.machine_of_host[i], {}});
  }
  const auto placements = plan.by_rank();
  for (const topology::Placement& place : placements) sheet.hosts[place.host].ranks.push_back(place.rank);
  sheet.groups.push_back(whole_group(placements.size()));
  return sheet;
}

RankSheet make_rank_sheet(const std::vector<PlannedRank>& ranks) {
  RankSheet sheet;
  std::map<std::string, std::size_t> node_of;
  std::vector<std::vector<Seat>> seats;
  for (const PlannedRank& rank : ranks) {
    const auto [at, fresh] = node_of.emplace(rank.host, sheet.hosts.size());
    if (fresh) {
      sheet.hosts.push_back({rank.host, 0, {}});
      seats.emplace_back();
    }
    sheet.hosts[at->second].ranks.push_back(rank.rank);
    Seat seat;
    seat.pus = rank.pus;
    seats[at->second].push_back(std::move(seat));
  }
  for (std::size_t node = 0; node < seats.size(); ++node) {
    const auto same = std::find(sheet.kinds.begin(), sheet.kinds.end(), seats[node]);
    sheet.hosts[node].kind = static_cast<std::uint32_t>(same - sheet.kinds.begin());
    if (same == sheet.kinds.end()) sheet.kinds.push_back(seats[node]);
  }
  sheet.groups.push_back(whole_group(ranks.size()));
  return sheet;
}

}  // namespace ddlrun::launch
