// SPDX-License-Identifier: MIT
#include "launch/rank/rank_map.hpp"

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

const RankGroup* group_of(const RankMap& rank_map, std::uint32_t rank) {
  const auto found = std::find_if(
      rank_map.groups.begin(), rank_map.groups.end(),
      [&](const RankGroup& group) { return rank >= group.first && rank - group.first < group.ranks; });
  return found == rank_map.groups.end() ? nullptr : &*found;
}

const RankBinding* seat_at(const RankMap& rank_map, const RankMapHost& host, std::size_t local_rank) {
  if (host.kind >= rank_map.kinds.size() || local_rank >= rank_map.kinds[host.kind].size()) return nullptr;
  return &rank_map.kinds[host.kind][local_rank];
}

using Word = std::pair<std::string_view, std::string>;

std::array<Word, 11> words_of(const RankView& rank) {
  const auto number = [](auto value) { return fmt::format("{}", value); };
  const int gpu = rank.binding == nullptr ? -1 : rank.binding->gpu;
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
          Word{"{nic}", rank.binding == nullptr ? "" : rank.binding->nic}};
}

}  // namespace

std::uint32_t RankMap::size() const {
  std::size_t ranks = 0;
  for (const RankMapHost& host : hosts) ranks += host.ranks.size();
  return static_cast<std::uint32_t>(ranks);
}

bool RankMap::has_content() const {
  return bind || unbind || memory != MemoryPolicy::leave || gpu_view != GpuView::leave || !workdir.empty() ||
         !result.empty() || groups.size() > 1 ||
         std::any_of(groups.begin(), groups.end(), [](const RankGroup& group) {
           return !group.program.empty() || !group.arguments.empty() || !group.variables.empty();
         });
}

std::optional<RankView> find_rank(const RankMap& rank_map, std::uint32_t rank) {
  const RankGroup* group = group_of(rank_map, rank);
  if (group == nullptr) return std::nullopt;
  for (std::size_t node = 0; node < rank_map.hosts.size(); ++node) {
    const RankMapHost& host = rank_map.hosts[node];
    const auto at = std::lower_bound(host.ranks.begin(), host.ranks.end(), rank);
    if (at == host.ranks.end() || *at != rank) continue;
    const auto local_rank = static_cast<std::size_t>(at - host.ranks.begin());
    return RankView{rank,
                    rank_map.size(),
                    static_cast<std::uint32_t>(local_rank),
                    static_cast<std::uint32_t>(host.ranks.size()),
                    static_cast<std::uint32_t>(node),
                    static_cast<std::uint32_t>(rank_map.hosts.size()),
                    rank - group->first,
                    group->ranks,
                    host.name,
                    seat_at(rank_map, host, local_rank),
                    group};
  }
  return std::nullopt;
}

std::vector<std::string> hosts_of_ranks(const RankMap& rank_map) {
  std::vector<std::string> hosts(rank_map.size());
  for (const RankMapHost& host : rank_map.hosts) {
    for (const std::uint32_t rank : host.ranks) {
      if (rank < hosts.size()) hosts[rank] = host.name;
    }
  }
  return hosts;
}

std::string expand_placeholders(std::string_view text, const RankView& rank) {
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

RankBinding make_rank_binding(const topology::MachineTopology& machine,
                              const std::vector<topology::PuIndex>& pus, int numa_node, int gpu) {
  RankBinding binding;
  for (const topology::PuIndex& pu : pus) binding.pus.push_back(pu.os);
  for (const topology::NumaNode& node : machine.numa_nodes) {
    if (node.logical == numa_node) binding.numa_node = node.os;
  }
  binding.gpu = gpu;
  if (gpu >= 0) binding.gpu_pci = machine.gpus[static_cast<std::size_t>(gpu)].pci_bus_id;
  return binding;
}

std::vector<RankBinding> make_rank_bindings(const topology::MachinePlan& plan) {
  std::vector<RankBinding> bindings;
  for (const topology::LocalPlacement& local : plan.ranks) {
    bindings.push_back(make_rank_binding(plan.machine, local.pus, local.numa_node, local.gpu));
    bindings.back().nic = local.nic;
  }
  return bindings;
}

RankMap make_rank_map(const topology::Plan& plan) {
  RankMap rank_map;
  for (const topology::MachinePlan& machine : plan.machines) {
    rank_map.kinds.push_back(make_rank_bindings(machine));
  }
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    rank_map.hosts.push_back({plan.hosts[i], plan.machine_of_host[i], {}});
  }
  const auto placements = plan.by_rank();
  for (const topology::Placement& place : placements) rank_map.hosts[place.host].ranks.push_back(place.rank);
  rank_map.groups.push_back(whole_group(placements.size()));
  return rank_map;
}

RankMap make_rank_map(const std::vector<PlannedRank>& ranks) {
  RankMap rank_map;
  std::map<std::string, std::size_t> node_of;
  std::vector<std::vector<RankBinding>> bindings;
  for (const PlannedRank& rank : ranks) {
    const auto [at, fresh] = node_of.emplace(rank.host, rank_map.hosts.size());
    if (fresh) {
      rank_map.hosts.push_back({rank.host, 0, {}});
      bindings.emplace_back();
    }
    rank_map.hosts[at->second].ranks.push_back(rank.rank);
    RankBinding binding;
    binding.pus = rank.pus;
    bindings[at->second].push_back(std::move(binding));
  }
  for (std::size_t node = 0; node < bindings.size(); ++node) {
    const auto same = std::find(rank_map.kinds.begin(), rank_map.kinds.end(), bindings[node]);
    rank_map.hosts[node].kind = static_cast<std::uint32_t>(same - rank_map.kinds.begin());
    if (same == rank_map.kinds.end()) rank_map.kinds.push_back(bindings[node]);
  }
  rank_map.groups.push_back(whole_group(ranks.size()));
  return rank_map;
}

}  // namespace ddlrun::launch
