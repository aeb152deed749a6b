// SPDX-License-Identifier: MIT
#include "topology/plan.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "topology/core_allocation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace ddlrun::topology {

namespace {

std::string name_of(const MachineTopology& machine) {
  return machine.source.empty() ? "the machine" : machine.source;
}

void check_rank_count(const MachineTopology& machine, std::uint32_t ranks, const PlanOptions& options) {
  const auto cores = static_cast<std::uint32_t>(machine.cores.size());
  const std::uint64_t wanted =
      static_cast<std::uint64_t>(ranks) * static_cast<std::uint32_t>(std::max(1, options.cores_per_rank));
  if (wanted <= cores) return;
  std::string what = options.cores_per_rank > 0
                         ? fmt::format("{} ranks per node x {} cores need {} cores, there are {}", ranks,
                                       options.cores_per_rank, wanted, cores)
                         : fmt::format("{} ranks per node need {} cores, there are {}", ranks, wanted, cores);
  std::string hint = options.cores_per_rank > 1 && ranks <= cores
                         ? fmt::format("--cores-per-rank {}", cores / ranks)
                         : fmt::format(
                               "a first factor of {} or less: each rank needs a core; to try more ranks "
                               "on shared cores: --oversubscribe",
                               cores);
  throw Error(ErrorKind::request, {std::move(what), name_of(machine), std::move(hint)});
}

// The remedy for ranks that cannot be placed by GPUs: by packages too, where that places them.
std::string hint_of_packages(const MachineTopology& machine, std::uint32_t ranks, int cores_each,
                             std::string other) {
  try {
    share_by_packages(machine, ranks, cores_each);
  } catch (const Error&) {
    return other;
  }
  return other + (other.empty() ? "" : ", or ") + "--map-by packages to place by cores alone";
}

bool use_gpus(const MachineTopology& machine, std::uint32_t ranks, const PlanOptions& options) {
  if (options.by == MapBy::packages) return false;
  const std::size_t gpus = machine.gpus.size();
  if (options.by == MapBy::automatic && gpus == 0) return false;
  if (ranks <= gpus) return true;
  std::string other = gpus > 0 ? fmt::format("dims that begin with {}", gpus) : std::string();
  std::string hint = hint_of_packages(machine, ranks, options.cores_per_rank, std::move(other));
  if (hint.empty()) hint = "--map-by packages, and fewer --cores-per-rank";
  throw Error(
      ErrorKind::request,
      {fmt::format("{} ranks per node need {} GPUs, one each, but the node has {}", ranks, ranks, gpus),
       name_of(machine), std::move(hint)});
}

CoreAllocation share_near_gpus(const MachineTopology& machine, std::uint32_t ranks, int cores_each) {
  try {
    return share_by_gpus(machine, ranks, cores_each);
  } catch (const Error& error) {
    const auto& [what, where, hint] = error.message();
    throw Error(error.kind(), {what, where, hint_of_packages(machine, ranks, cores_each, hint)});
  }
}

// The nearest fabric device: same NUMA node first; several are dealt round robin by local rank.
std::string nearest_fabric(const MachineTopology& machine, int numa_node, std::size_t local_rank) {
  std::vector<const Nic*> near, all;
  for (const Nic& nic : machine.nics) {
    if (nic.kind != "infiniband" && nic.kind != "omnipath") continue;
    all.push_back(&nic);
    if (nic.numa_node == numa_node) near.push_back(&nic);
  }
  const auto& pool = near.empty() ? all : near;
  return pool.empty() ? std::string() : pool[local_rank % pool.size()]->name;
}

LocalPlacement make_placement(const MachineTopology& machine, CoreBlock share, std::size_t local_rank) {
  LocalPlacement place;
  place.cores = std::move(share.cores);
  place.gpu = share.gpu;
  place.reason = std::move(share.reason);
  std::sort(place.cores.begin(), place.cores.end());
  place.numa_node =
      place.cores.empty() ? -1 : machine.cores[static_cast<std::size_t>(place.cores[0].logical)].numa_node;
  for (const CoreIndex index : place.cores) {
    const Core& core = machine.cores[static_cast<std::size_t>(index.logical)];
    place.pus.insert(place.pus.end(), core.pus.begin(), core.pus.end());
    if (core.numa_node != place.numa_node) place.numa_node = -1;
  }
  std::sort(place.pus.begin(), place.pus.end());
  place.nic = nearest_fabric(machine, place.numa_node, local_rank);
  place.slot = render_slot(machine, place.cores);
  return place;
}

[[noreturn]] void refuse_host_count(const Dims& dims, std::size_t given) {
  constexpr const char* where = "the host list";
  const std::uint64_t needed = dims.host_count();
  if (needed == 1) {
    throw Error(ErrorKind::request,
                {fmt::format("{} is for one host, {} given", render_dims(dims), given), where,
                 fmt::format("{0}x{1} for {0} rank{2} on each of {1} hosts", dims.gpus_per_node, given,
                             dims.gpus_per_node == 1 ? "" : "s")});
  }
  const auto shapes = nearest_shapes(dims, given);
  throw Error(ErrorKind::request,
              {fmt::format("{} needs {} hosts{}, {} given", render_dims(dims), needed,
                           dims.racks > 1 || dims.aisles > 1
                               ? fmt::format(" ({} per rack x {} racks{})", dims.nodes_per_rack, dims.racks,
                                             dims.aisles > 1 ? fmt::format(" x {} aisles", dims.aisles) : "")
                               : "",
                           given),
               where,
               shapes.empty() ? "as many hosts as the dims give"
                              : "dims " + fmt::format("{}", fmt::join(shapes, " or "))});
}

}  // namespace

void check_hosts(const Dims& dims, const std::vector<std::string>& hosts) {
  if (hosts.size() != dims.host_count()) refuse_host_count(dims, hosts.size());
  std::unordered_set<std::string_view> seen;
  seen.reserve(hosts.size());
  for (const std::string& host : hosts) {
    if (!seen.insert(host).second) {
      throw Error(ErrorKind::request,
                  {fmt::format("host '{}' is listed twice", host), "the host list",
                   "list each host once; for more ranks on a host: a larger first factor, as 8x1"});
    }
  }
}

Placement Plan::at(std::uint32_t host, std::uint32_t local_rank) const {
  const Coordinates where = dims.coordinates(host, local_rank);
  return {dims.rank_of(where, order), local_rank, host, where, &machine(host).ranks[local_rank]};
}

std::vector<Placement> Plan::by_rank() const {
  std::vector<Placement> placements(dims.world_size());
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    for (std::uint32_t x = 0; x < dims.gpus_per_node; ++x) {
      const Placement place = at(host, x);
      placements[place.rank] = place;
    }
  }
  return placements;
}

bool Plan::has_assumed_machine() const {
  return std::any_of(machines.begin(), machines.end(), [](const auto& m) { return m.machine.assumed; });
}

std::string render_slot(const MachineTopology& machine, const std::vector<CoreIndex>& cores) {
  std::string text;
  const bool by_package = machine.packages_are_equal();
  for (std::size_t i = 0; i < cores.size();) {
    const Core& first = machine.cores[cores[i].logical];
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1].logical == cores[last].logical + 1 &&
           (!by_package || machine.cores[cores[last + 1].logical].package == first.package)) {
      ++last;
    }
    const int from = by_package ? first.index_in_package : first.index.logical;
    const int to = from + static_cast<int>(last - i);
    if (!text.empty()) text += ';';
    if (by_package) text += fmt::format("{}:", first.package);
    text += from == to ? fmt::format("{}", from) : fmt::format("{}-{}", from, to);
    i = last + 1;
  }
  return text;
}

namespace {

// More ranks than cores. With a core each, ranks that wait would crowd some cores while others idle; each may
// use all cores instead, unless the user gave it one.
CoreAllocation share_cores(const MachineTopology& machine, std::uint32_t ranks, const PlanOptions& options) {
  const auto cores = static_cast<std::uint32_t>(machine.cores.size());
  const bool is_bound = options.cores_per_rank == 1;
  CoreAllocation shares;
  if (is_bound) {
    shares = share_by_packages(machine, cores, 1);
  } else {
    CoreBlock& all = shares.ranks.emplace_back();
    for (const Core& core : machine.cores) all.cores.push_back(core.index);
    all.reason = fmt::format("all {} cores, shared by {} ranks", cores, ranks);
  }
  shares.remarks.push_back(fmt::format("{} ranks share {} core{}{}: to try a job out, not for speed", ranks,
                                       cores, cores == 1 ? "" : "s",
                                       is_bound || cores == 1 ? "" : ", none is bound to one of them"));
  return shares;
}

}  // namespace

MachinePlan plan_machine(const MachineTopology& machine, std::uint32_t ranks, const PlanOptions& options) {
  const auto cores = static_cast<std::uint32_t>(machine.cores.size());
  const bool share = options.oversubscribe && options.cores_per_rank <= 1 && cores > 0 && ranks > cores;
  if (!share) check_rank_count(machine, ranks, options);
  CoreAllocation shares = share ? share_cores(machine, ranks, options)
                          : use_gpus(machine, ranks, options)
                              ? share_near_gpus(machine, ranks, options.cores_per_rank)
                              : share_by_packages(machine, ranks, options.cores_per_rank);
  MachinePlan plan{machine, {}, std::move(shares.remarks)};
  for (std::size_t x = 0; x < ranks; ++x)
    plan.ranks.push_back(make_placement(machine, shares.ranks[x % shares.ranks.size()], x));
  return plan;
}

Plan plan_job(const Dims& dims, std::vector<std::string> hosts, const std::vector<MachineTopology>& machines,
              std::vector<std::uint32_t> machine_of_host, const PlanOptions& options) {
  check_hosts(dims, hosts);
  Plan plan;
  plan.dims = dims;
  plan.order = options.order;
  plan.hosts = std::move(hosts);
  plan.machine_of_host = std::move(machine_of_host);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    try {
      plan.machines.push_back(plan_machine(machines[i], dims.gpus_per_node, options));
    } catch (const Error& error) {
      // The place is a host of the user's list, not only the source of its topology.
      Message message = error.message();
      for (std::size_t h = 0; h < plan.hosts.size(); ++h) {
        if (plan.machine_of_host[h] != i) continue;
        message.where = fmt::format("{} ({})", plan.hosts[h], message.where);
        break;
      }
      throw Error(error.kind(), message);
    }
  }
  return plan;
}

}  // namespace ddlrun::topology
