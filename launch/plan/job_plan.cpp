// SPDX-License-Identifier: MIT
#include "launch/plan/job_plan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace ddlrun::launch {

namespace {

// Ranks and cores of the hosts whose machines are known.
struct HostLoad {
  std::size_t ranks = 0, cores = 0;

  bool is_crowded() const { return ranks > cores; }
};

std::map<std::string, HostLoad> loads_of(const JobPlan& job) {
  std::map<std::string, HostLoad> loads;
  for (std::size_t i = 0; i < job.hosts.size() && i < job.machines.machine_of_host.size(); ++i)
    loads[job.hosts[i]].cores = job.machines.machines[job.machines.machine_of_host[i]].cores.size();
  for (const PlannedRank& rank : job.ranks)
    if (const auto found = loads.find(rank.host); found != loads.end()) ++found->second.ranks;
  std::erase_if(loads, [](const auto& load) { return load.second.ranks == 0; });
  return loads;
}

// The least and the most cores that a rank can count on.
std::pair<int, int> cores_of_ranks(const JobPlan& job) {
  if (job.ranks.empty()) return {0, 0};
  const auto loads = loads_of(job);
  std::pair<int, int> cores{std::numeric_limits<int>::max(), 0};
  for (const PlannedRank& rank : job.ranks) {
    const auto load = loads.find(rank.host);
    const bool is_crowded = load != loads.end() && load->second.is_crowded();
    const int own = is_crowded ? std::min(rank.cores, 1) : rank.cores;
    cores = {std::min(cores.first, own), std::max(cores.second, own)};
  }
  return cores;
}

}  // namespace

int JobPlan::fewest_cores() const { return cores_of_ranks(*this).first; }

int JobPlan::most_cores() const { return cores_of_ranks(*this).second; }

bool JobPlan::is_crowded() const {
  const auto loads = loads_of(*this);
  return std::ranges::any_of(ranks, [&](const PlannedRank& rank) {
    const auto load = loads.find(rank.host);
    return rank.cores > 1 && load != loads.end() && load->second.is_crowded();
  });
}

int JobPlan::room_for_cores() const {
  std::size_t least = 0;
  for (const auto& [host, load] : loads_of(*this)) {
    const std::size_t room = load.cores / load.ranks;
    least = least == 0 ? room : std::min(least, room);
  }
  return static_cast<int>(least);
}

bool JobPlan::on_this_host(const Environment& environment) const {
  return std::any_of(hosts.begin(), hosts.end(),
                     [&](const auto& host) { return topology::is_this_host(environment, host); });
}

bool JobPlan::all_on_this_host(const Environment& environment) const {
  return std::all_of(hosts.begin(), hosts.end(),
                     [&](const auto& host) { return topology::is_this_host(environment, host); });
}

std::vector<const topology::MachineTopology*> machine_pointers(const JobPlan& job) {
  std::vector<const topology::MachineTopology*> machines;
  for (const std::uint32_t index : job.machines.machine_of_host)
    machines.push_back(&job.machines.machines[index]);
  return machines;
}

}  // namespace ddlrun::launch
