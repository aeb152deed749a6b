// SPDX-License-Identifier: MIT
#include "topology/plan_view.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::topology {

namespace {

constexpr std::uint32_t most_ranks_shown = 256;

std::string describe_place(const MachinePlan& machine, const LocalPlacement& place) {
  std::vector<int> pus;
  for (const PuIndex pu : place.pus) pus.push_back(pu.os);
  std::string text = fmt::format("slot={} ({} core{}, PUs {})", place.slot, place.cores.size(),
                                 place.cores.size() == 1 ? "" : "s", render_ranges(pus));
  if (place.gpu >= 0) {
    const Gpu& gpu = machine.machine.gpus[static_cast<std::size_t>(place.gpu)];
    text += fmt::format(", GPU {} {}", place.gpu, gpu.model);
  }
  if (!place.nic.empty()) text += ", near " + place.nic;
  return text + "\n      because " + place.reason + "\n";
}

}  // namespace

std::string render_explanation(const Plan& plan) {
  std::string text;
  if (plan.dims.world_size() > most_ranks_shown) {
    for (std::size_t m = 0; m < plan.machines.size(); ++m) {
      text += fmt::format("machine {} ({}):\n", m, plan.machines[m].machine.source);
      for (std::size_t x = 0; x < plan.machines[m].ranks.size(); ++x) {
        text += fmt::format("  local rank {}: {}", x,
                            describe_place(plan.machines[m], plan.machines[m].ranks[x]));
      }
    }
    return text;
  }
  for (const Placement& place : plan.by_rank()) {
    const Coordinates& at = place.coordinates;
    text += fmt::format("  rank {} on {} (x {}, y {}, z {}): {}", place.rank, plan.hosts[place.host], at.x,
                        at.y, at.z, describe_place(plan.machine(place.host), *place.local));
  }
  return text;
}

}  // namespace ddlrun::topology
