// SPDX-License-Identifier: MIT
// Hosts, plan and checked rankfile of a launch.
#pragma once

#include "base/os/system.hpp"
#include "launch/rank/planned_rank.hpp"
#include "launch/rank/rank_map.hpp"
#include "topology/plan.hpp"
#include "topology/sources/job_machines.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct JobPlan {
  std::vector<std::string> hosts;
  topology::HostPath path = topology::HostPath::automatic;
  topology::JobMachines machines;
  std::optional<topology::Plan> plan;  // nothing with uneven ranks, tasks or a rankfile of the user's
  std::optional<RankMap> bindings;     // of uneven ranks and of tasks (--ps, --workers)
  std::string rankfile_text;
  std::vector<PlannedRank> ranks;     // ascending
  std::vector<std::string> remarks;   // choices that ddlrun made, for people
  std::vector<std::string> findings;  // of the rankfile's linter, warnings too

  int fewest_cores() const;  // that a rank can count on: one where the ranks of its host outnumber the cores
  int most_cores() const;
  bool is_crowded() const;     // some ranks share several cores that they outnumber
  int room_for_cores() const;  // the most cores that each of these ranks could get; 0: unknown
  bool on_this_host(const Environment& environment) const;
  bool all_on_this_host(const Environment& environment) const;
};

// The machine of each host, in the order of `job.hosts`.
std::vector<const topology::MachineTopology*> machine_pointers(const JobPlan& job);

}  // namespace ddlrun::launch
