// SPDX-License-Identifier: MIT
#include "doctor/checks/gpu_place.hpp"

#include "doctor/checks/core_facts.hpp"
#include "topology/rankfile/rankfile_reader.hpp"
#include "topology/rankfile/slot_list.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {
namespace {

using topology::Core;
using topology::MachineTopology;

// Linux's number of a core's NUMA node, -1 where it has none.
int node_of(const MachineTopology& machine, const Core& core) {
  return core.numa_node < 0 ? -1 : machine.numa_nodes[static_cast<std::size_t>(core.numa_node)].os;
}

// Hosts are named with and without their domain.
std::string_view short_name(std::string_view name) { return name.substr(0, name.find('.')); }

Nearness evaluate_nearness(const MachineTopology& machine, const std::vector<topology::CoreIndex>& cores,
                           int node) {
  bool same_node = false, same_package = false;
  int package = -1;
  for (const Core& core : machine.cores) {
    if (node_of(machine, core) == node) package = core.package;
  }
  for (const auto index : cores) {
    const Core& core = machine.cores[static_cast<std::size_t>(index.logical)];
    same_node |= node_of(machine, core) == node;
    same_package |= core.package == package;
  }
  return same_node ? Nearness::same_node : same_package ? Nearness::same_package : Nearness::other_package;
}

}  // namespace

RankPlacer::RankPlacer(std::string_view text) : empty_(text.empty()) {
  for (rankfile::RankLine& line : rankfile::parse_rank_lines(text)) {
    std::string host(short_name(line.host));
    ranks_[std::move(host)].push_back(std::move(line));
  }
  for (auto& [host, lines] : ranks_) {
    std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  }
}

RankPlaces RankPlacer::find(const HostReport& host) const {
  RankPlaces found;
  if (empty_) return {{}, "no rankfile was named (--rankfile)"};
  const auto machine = machine_of(host.facts);
  if (!machine) return {{}, "the cores of this host are not known"};
  const auto at = ranks_.find(short_name(host.host));
  if (at == ranks_.end()) return {{}, "the rankfile has no rank for this host"};
  const auto& ranks = at->second;
  for (std::uint64_t x = 0; x < ranks.size(); ++x) {
    const auto node = host.facts.number(fmt::format("gpu.{}.numa", x));
    if (!node || *node > 1024) continue;
    const auto cores = rankfile::resolve_slots(ranks[x].slots, *machine);
    if (cores.empty()) continue;
    found.places.push_back(
        {ranks[x].rank, x, ranks[x].slots, evaluate_nearness(*machine, cores, static_cast<int>(*node))});
  }
  if (found.places.empty()) found.problem = "the NUMA nodes of the GPUs are not known here";
  return found;
}

}  // namespace ddlrun::doctor
