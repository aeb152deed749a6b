// SPDX-License-Identifier: MIT
#include "launch/plan/uneven_placement.hpp"

#include "base/text/error.hpp"
#include "launch/frameworks/tf_placement.hpp"
#include "launch/plan/unequal_hosts.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

#include <utility>

namespace ddlrun::launch {

namespace {

using topology::MachineTopology;

void take_rank_lines(JobPlan& job, int mpi_major) {
  job.ranks = planned_ranks(rankfile::parse_rank_lines(job.rankfile_text), job.hosts, machine_pointers(job),
                            mpi_major);
}

RankMap task_rank_map(const std::vector<frameworks::Task>& tasks, const std::vector<PlannedRank>& ranks,
                      const std::vector<const MachineTopology*>& machines) {
  RankMap rank_map = make_rank_map(ranks);
  rank_map.kinds.assign(rank_map.hosts.size(), {});  // hosts differ in their tasks: a kind each
  for (std::size_t node = 0; node < rank_map.hosts.size(); ++node) {
    rank_map.hosts[node].kind = static_cast<std::uint32_t>(node);
    for (const std::uint32_t rank : rank_map.hosts[node].ranks) {
      const frameworks::Task& task = tasks[rank];
      rank_map.kinds[node].push_back(
          make_rank_binding(*machines[task.host], task.pus, task.numa_node, task.gpu));
    }
  }
  return rank_map;
}

}  // namespace

void plan_task_bindings(const LaunchSpec& spec, JobPlan& job, int mpi_major) {
  const auto machines = machine_pointers(job);
  frameworks::TaskRequest request{spec.framework.ps_tasks, spec.framework.workers, spec.framework.chief,
                                  spec.shape.host_ranks, spec.placement.plan.cores_per_rank};
  const auto tasks = frameworks::plan_tasks(request, job.hosts, machines);
  job.rankfile_text = frameworks::render_task_rankfile(tasks, job.hosts);
  take_rank_lines(job, mpi_major);
  job.bindings = task_rank_map(tasks, job.ranks, machines);
}

void plan_uneven_bindings(const LaunchSpec& spec, JobPlan& job, int mpi_major) {
  if (spec.placement.order_is_typed && spec.placement.plan.order == topology::RankOrder::ddl) {
    throw Error(ErrorKind::usage, {"ranks over the hosts need the same number on each", "--order ddl, -H",
                                   "--order packed, or the same count for each host"});
  }
  const auto machines = machine_pointers(job);
  std::vector<HostRanks> hosts;
  for (std::size_t i = 0; i < job.hosts.size(); ++i)
    hosts.push_back({job.hosts[i], spec.shape.host_ranks[i], machines[i]});
  UnevenRanks uneven = plan_uneven_ranks(hosts, spec.placement.plan);
  job.remarks.push_back("the hosts get different numbers of ranks: no dims, ranks are numbered host by host");
  job.remarks.insert(job.remarks.end(), uneven.remarks.begin(), uneven.remarks.end());
  job.rankfile_text = std::move(uneven.rankfile);
  take_rank_lines(job, mpi_major);
  job.bindings = std::move(uneven.rank_map);
}

}  // namespace ddlrun::launch
