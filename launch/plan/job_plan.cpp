// SPDX-License-Identifier: MIT
#include "launch/plan/job_plan.hpp"

#include <algorithm>
#include <map>

namespace ddlrun::launch {

int JobPlan::fewest_cores() const {
  const auto least =
      std::min_element(ranks.begin(), ranks.end(), [](auto& a, auto& b) { return a.cores < b.cores; });
  return least == ranks.end() ? 0 : least->cores;
}

int JobPlan::most_cores() const {
  const auto most =
      std::max_element(ranks.begin(), ranks.end(), [](auto& a, auto& b) { return a.cores < b.cores; });
  return most == ranks.end() ? 0 : most->cores;
}

int JobPlan::room_for_cores() const {
  std::map<std::string, std::size_t> ranks_of_host;
  for (const PlannedRank& rank : ranks) ++ranks_of_host[rank.host];
  std::size_t least = 0;
  for (std::size_t i = 0; i < hosts.size() && i < machines.machine_of_host.size(); ++i) {
    const auto found = ranks_of_host.find(hosts[i]);
    if (found == ranks_of_host.end()) continue;
    const std::size_t room = machines.machines[machines.machine_of_host[i]].cores.size() / found->second;
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
