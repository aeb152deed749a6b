// SPDX-License-Identifier: MIT
#include "topology/core_allocation.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ddlrun::topology {

namespace {

using Cores = std::vector<CoreIndex>;

Cores without(const Cores& cores, const Cores& taken) {
  Cores left;
  std::set_difference(cores.begin(), cores.end(), taken.begin(), taken.end(), std::back_inserter(left));
  return left;
}

Cores merged(const Cores& a, const Cores& b) {
  Cores all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

Cores all_cores(const MachineTopology& machine) {
  Cores cores;
  for (const Core& core : machine.cores) cores.push_back(core.index);
  return cores;
}

// Contiguous blocks, one for each of `parts`: equal, the remainder one by one to the first; or `each` cores.
std::vector<Cores> cut(const Cores& cores, std::size_t parts, int each) {
  std::vector<Cores> blocks;
  auto next = cores.begin();
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t even = cores.size() / parts + (i < cores.size() % parts ? 1 : 0);
    const std::size_t size = each > 0 ? static_cast<std::size_t>(each) : even;
    blocks.emplace_back(next, next + static_cast<std::ptrdiff_t>(size));
    next += static_cast<std::ptrdiff_t>(size);
  }
  return blocks;
}

[[noreturn]] void refuse_share(const std::string& place, std::size_t cores, std::size_t ranks, int each,
                               std::string_view owner, const std::string& source) {
  const std::size_t needed = ranks * static_cast<std::size_t>(std::max(1, each));
  const std::string hint = each > 1 && cores >= ranks ? fmt::format("--cores-per-rank {}", cores / ranks)
                                                      : std::string("fewer ranks per node");
  throw Error(ErrorKind::request,
              {fmt::format("{} {} at {} need {} cores, there are {}", ranks, owner, place, needed, cores),
               source, hint});
}

void note_remainder(CoreAllocation& shares, const std::string& place, std::size_t cores, std::size_t ranks,
                    int each) {
  if (each > 0 || ranks == 0 || cores % ranks == 0) return;
  shares.remarks.push_back(fmt::format("{}: {} cores for {} ranks, {} of them get one more (the lowest)",
                                       place, cores, ranks, cores % ranks));
}

// GPUs with the same cores near them.
struct Neighbourhood {
  Cores cores;
  std::string place;
  std::vector<std::size_t> gpus;  // ascending local ranks
};

std::vector<Neighbourhood> find_neighbourhoods(const MachineTopology& machine, std::uint32_t ranks) {
  std::vector<Neighbourhood> found;
  for (std::size_t x = 0; x < ranks; ++x) {
    const Gpu& gpu = machine.gpus[x];
    if (gpu.cores.empty()) continue;
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const Neighbourhood& n) { return n.cores == gpu.cores; });
    if (same != found.end()) {
      same->gpus.push_back(x);
    } else {
      const std::string place = gpu.numa_node >= 0 ? fmt::format("NUMA node {}", gpu.numa_node)
                                                   : fmt::format("package {}", gpu.package);
      found.push_back({gpu.cores, place, {x}});
    }
  }
  // A GPU near a whole package comes after those near one of its NUMA nodes, and gets what they leave.
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.cores.size() < b.cores.size(); });
  return found;
}

void share_neighbourhood(CoreAllocation& shares, const MachineTopology& machine, const Neighbourhood& near,
                         const Cores& free, int each) {
  const std::size_t needed = near.gpus.size() * static_cast<std::size_t>(std::max(1, each));
  if (free.size() < needed) {
    refuse_share(near.place, free.size(), near.gpus.size(), each, "GPUs", machine.source);
  }
  const auto blocks = cut(free, near.gpus.size(), each);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t x = near.gpus[i];
    shares.ranks[x].cores = blocks[i];
    shares.ranks[x].reason = fmt::format(
        "GPU {} ({}) is at {}: {} of its {} cores, shared by {} GPU{}", x, machine.gpus[x].pci_bus_id,
        near.place, blocks[i].size(), near.cores.size(), near.gpus.size(), near.gpus.size() == 1 ? "" : "s");
  }
  note_remainder(shares, near.place, free.size(), near.gpus.size(), each);
}

// GPUs whose locality is the whole machine, or has no usable core, get an even part of what is left.
void share_rest(CoreAllocation& shares, const MachineTopology& machine,
                const std::vector<std::size_t>& homeless, const Cores& free, int each) {
  if (free.size() < homeless.size() * static_cast<std::size_t>(std::max(1, each))) {
    refuse_share("no particular place", free.size(), homeless.size(), each, "GPUs", machine.source);
  }
  const auto blocks = cut(free, homeless.size(), each);
  for (std::size_t i = 0; i < homeless.size(); ++i) {
    const std::size_t x = homeless[i];
    const Gpu& gpu = machine.gpus[x];
    shares.ranks[x].cores = blocks[i];
    shares.ranks[x].reason =
        fmt::format("GPU {} ({}) has no cores of its own ({}): an even part of the {} cores left", x,
                    gpu.pci_bus_id, gpu.locality, free.size());
    shares.remarks.push_back(
        fmt::format("GPU {} ({}): locality '{}' gives no cores, local rank {} shares what is left", x,
                    gpu.pci_bus_id, gpu.locality, x));
  }
}

void note_idle_packages(CoreAllocation& shares, const MachineTopology& machine) {
  std::vector<int> used(machine.packages.size(), 0);
  for (const CoreBlock& share : shares.ranks) {
    for (const CoreIndex index : share.cores) {
      const int package = machine.cores[static_cast<std::size_t>(index.logical)].package;
      if (package >= 0) used[static_cast<std::size_t>(package)] = 1;
    }
  }
  for (const Package& package : machine.packages) {
    if (package.core_count > 0 && used[static_cast<std::size_t>(package.logical)] == 0) {
      shares.remarks.push_back(fmt::format("package {} stays idle: no GPU in use is near its {} cores",
                                           package.logical, package.core_count));
    }
  }
}

// What a rank may be given on a machine whose packages are dealt out, as groups of cores.
std::vector<Cores> cores_by_package(const MachineTopology& machine) {
  std::vector<Cores> groups(machine.packages.size() + 1);  // the last: cores without a package
  for (const Core& core : machine.cores) {
    const bool has_package = core.package >= 0;
    groups[has_package ? static_cast<std::size_t>(core.package) : machine.packages.size()].push_back(
        core.index);
  }
  std::erase_if(groups, [](const Cores& cores) { return cores.empty(); });
  return groups;
}

// Ranks per package: in turn, skipping those that are full.
std::vector<std::size_t> deal_ranks(const std::vector<Cores>& groups, std::size_t ranks, int each,
                                    const std::string& source) {
  std::vector<std::size_t> dealt(groups.size(), 0);
  const auto room = [&](std::size_t g) {
    return groups[g].size() / static_cast<std::size_t>(std::max(1, each));
  };
  std::size_t left = ranks;
  while (left > 0) {
    const std::size_t before = left;
    for (std::size_t g = 0; g < groups.size() && left > 0; ++g) {
      if (dealt[g] == room(g)) continue;
      ++dealt[g];
      --left;
    }
    if (left != before) continue;
    throw Error(
        ErrorKind::request,
        {fmt::format("{} ranks of {} whole cores within one package each: only {} fit", ranks, each,
                     ranks - left),
         source, each > 1 ? fmt::format("--cores-per-rank {}", each - 1) : std::string("fewer ranks")});
  }
  return dealt;
}

// Fewer ranks than packages: each gets whole packages.
CoreAllocation share_whole_packages(const MachineTopology& machine, const std::vector<Cores>& groups,
                                    std::size_t ranks, int each) {
  CoreAllocation shares;
  std::size_t next = 0;
  for (std::size_t x = 0; x < ranks; ++x) {
    const std::size_t count = groups.size() / ranks + (x < groups.size() % ranks ? 1 : 0);
    CoreBlock share;
    for (std::size_t i = 0; i < count; ++i) share.cores = merged(share.cores, groups[next + i]);
    share.reason = count == 1
                       ? fmt::format("all of package {}", next)
                       : fmt::format("packages {}-{}: fewer ranks than packages", next, next + count - 1);
    const std::size_t wanted = static_cast<std::size_t>(std::max(0, each));
    if (wanted > share.cores.size()) {
      refuse_share(share.reason, share.cores.size(), 1, each, "rank", machine.source);
    }
    if (wanted > 0) share.cores.resize(wanted);
    shares.ranks.push_back(std::move(share));
    next += count;
  }
  return shares;
}

}  // namespace

CoreAllocation share_by_gpus(const MachineTopology& machine, std::uint32_t ranks, int cores_each) {
  CoreAllocation shares;
  shares.ranks.resize(ranks);
  std::vector<std::size_t> homeless;
  for (std::size_t x = 0; x < ranks; ++x) {
    shares.ranks[x].gpu = static_cast<int>(x);
    if (machine.gpus[x].cores.empty()) homeless.push_back(x);
  }
  const Cores everything = all_cores(machine);
  const auto neighbourhoods = find_neighbourhoods(machine, ranks);
  Cores claimed;
  for (const Neighbourhood& near : neighbourhoods) claimed = merged(claimed, near.cores);
  // If the other ranks would take every core, no rank gets more than an even part of the machine.
  const bool scarce = everything.size() - claimed.size() < homeless.size();
  const int most = scarce && !homeless.empty() ? static_cast<int>(everything.size() / ranks) : 0;

  Cores taken;
  for (const Neighbourhood& near : neighbourhoods) {
    const Cores free = without(near.cores, taken);
    const int even = static_cast<int>(free.size() / near.gpus.size());
    const int each = cores_each > 0 ? cores_each : (most > 0 ? std::min(most, std::max(1, even)) : 0);
    share_neighbourhood(shares, machine, near, free, each);
    for (const std::size_t x : near.gpus) taken = merged(taken, shares.ranks[x].cores);
  }
  if (!homeless.empty()) share_rest(shares, machine, homeless, without(everything, taken), cores_each);
  note_idle_packages(shares, machine);
  return shares;
}

CoreAllocation share_by_packages(const MachineTopology& machine, std::uint32_t ranks, int cores_each) {
  const auto groups = cores_by_package(machine);
  if (ranks < groups.size()) return share_whole_packages(machine, groups, ranks, cores_each);
  const auto dealt = deal_ranks(groups, ranks, cores_each, machine.source);
  CoreAllocation shares;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (Cores& block : cut(groups[g], dealt[g], cores_each)) {
      const std::string reason =
          fmt::format("package {} of {}: {} of its {} cores, shared by {} rank{}", g, groups.size(),
                      block.size(), groups[g].size(), dealt[g], dealt[g] == 1 ? "" : "s");
      shares.ranks.push_back({std::move(block), -1, reason});
    }
    note_remainder(shares, fmt::format("package {}", g), groups[g].size(), dealt[g], cores_each);
  }
  if (ranks % groups.size() != 0) {
    std::size_t least = SIZE_MAX, most = 0;
    for (const CoreBlock& share : shares.ranks) {
      least = std::min(least, share.cores.size());
      most = std::max(most, share.cores.size());
    }
    shares.remarks.push_back(
        fmt::format("{} ranks on {} packages: {} to {} cores each; --cores-per-rank {} makes "
                    "them equal",
                    ranks, groups.size(), least, most, least));
  }
  return shares;
}

}  // namespace ddlrun::topology
