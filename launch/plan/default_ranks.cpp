// SPDX-License-Identifier: MIT
#include "launch/plan/default_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

using topology::MachineTopology;
using topology::MapBy;

// A GPU node of the kind the trainer is made for has four; more ranks make the global batch hard to
// train with.
constexpr int ranks_without_gpus = 4;

std::string_view plural(std::size_t count) { return count == 1 ? "" : "s"; }

DefaultRanks by_gpus(const MachineTopology& machine) {
  const std::size_t count = machine.gpus.size();
  return {static_cast<std::uint32_t>(count),
          fmt::format("one rank for each of the {} GPU{}", count, plural(count))};
}

// Why a host without GPUs gets `each` ranks on each of its packages.
std::string why_packages(std::size_t cores, int packages, int each, bool is_limited, int cores_per_rank) {
  const auto ranks = static_cast<std::size_t>(each) * static_cast<std::size_t>(packages);
  if (ranks == cores && cores == 1) return ", which has 1 core";
  if (ranks == cores) return fmt::format(", one for each of its {} cores", cores);
  if (is_limited)
    return fmt::format(", as its {} core{} {} no more of {} each", cores, plural(cores),
                       cores == 1 ? "allows" : "allow", cores_per_rank);
  if (packages == 1) return fmt::format(" by default, which has {} cores", cores);
  return fmt::format(" by default, {} on each of its {} packages; it has {} cores", each, packages, cores);
}

DefaultRanks by_packages(const MachineTopology& machine, int cores_per_rank) {
  const auto packages = machine.packages_with_cores();
  const int package_count = std::max<int>(1, static_cast<int>(packages.size()));
  int smallest = static_cast<int>(machine.cores.size());
  for (const topology::Package* package : packages) smallest = std::min(smallest, package->core_count);
  const int room = std::max(1, smallest / std::max(1, cores_per_rank));
  const int wanted = (ranks_without_gpus + package_count - 1) / package_count;
  const int each = std::min(room, wanted);
  const auto ranks = static_cast<std::size_t>(each) * static_cast<std::size_t>(package_count);
  return {
      static_cast<std::uint32_t>(ranks),
      fmt::format("no GPUs: {} rank{} per host{}", ranks, plural(ranks),
                  why_packages(machine.cores.size(), package_count, each, each < wanted, cores_per_rank))};
}

DefaultRanks of_machine(const MachineTopology& machine, const topology::PlanOptions& options) {
  const bool gpus = options.by != MapBy::packages && !machine.gpus.empty();
  return gpus ? by_gpus(machine) : by_packages(machine, options.cores_per_rank);
}

}  // namespace

DefaultRanks default_ranks(const std::vector<MachineTopology>& machines,
                           const topology::PlanOptions& options) {
  DefaultRanks least;
  bool differ = false;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    DefaultRanks here = of_machine(machines[i], options);
    differ = differ || (i > 0 && here.ranks != least.ranks);
    if (i == 0 || here.ranks < least.ranks) least = std::move(here);
  }
  if (differ) least.reason += "; the hosts differ and this is the smallest (-H h1:4,h2:2 gives each its own)";
  return least;
}

}  // namespace ddlrun::launch
