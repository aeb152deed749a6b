// SPDX-License-Identifier: MIT
#include "launch/frameworks/tf_placement.hpp"

#include "base/text/error.hpp"
#include "topology/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ddlrun::frameworks {

namespace {

using topology::CoreIndex;
using topology::MachineTopology;

[[noreturn]] void refuse_tasks(const std::string& what, const std::string& at, const std::string& hint) {
  throw Error(ErrorKind::request, {what, at, hint});
}

// One to each host that has room, round after round.
std::vector<std::uint32_t> deal_rounds(std::uint32_t count, const std::vector<std::size_t>& room) {
  std::vector<std::uint32_t> dealt(room.size(), 0);
  while (count > 0) {
    bool any = false;
    for (std::size_t host = 0; host < room.size() && count > 0; ++host) {
      if (dealt[host] >= room[host]) continue;
      ++dealt[host];
      --count;
      any = true;
    }
    if (!any) break;
  }
  return dealt;
}

std::vector<std::uint32_t> deal_workers(std::uint32_t workers,
                                        const std::vector<const MachineTopology*>& machines) {
  std::vector<std::size_t> gpus, cores;
  for (const MachineTopology* machine : machines) {
    gpus.push_back(machine->gpus.size());
    cores.push_back(machine->cores.size());
  }
  const std::size_t all = std::accumulate(gpus.begin(), gpus.end(), std::size_t{0});
  if (all > 0 && all < workers) {
    refuse_tasks(
        fmt::format("{} workers need a GPU each, the {} hosts have {}", workers, machines.size(), all),
        "--workers", fmt::format("--workers {}", all));
  }
  return deal_rounds(workers, all > 0 ? gpus : cores);
}

// As many cores for each worker as an even share, near its GPU; fewer where the GPU's NUMA node has not so
// many.
topology::MachinePlan place_workers(const MachineTopology& machine, std::uint32_t workers,
                                    std::size_t share) {
  topology::PlanOptions options;
  for (std::size_t cores = share; cores > 1; --cores) {
    options.cores_per_rank = static_cast<int>(cores);
    try {
      return topology::plan_machine(machine, workers, options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::request) throw;
    }
  }
  options.cores_per_rank = 1;
  return topology::plan_machine(machine, workers, options);
}

Task make_task(const MachineTopology& machine, std::uint32_t host, std::vector<CoreIndex> cores) {
  Task task;
  task.host = host;
  for (const CoreIndex core : cores) {
    const topology::Core& found = machine.cores[static_cast<std::size_t>(core.logical)];
    task.pus.insert(task.pus.end(), found.pus.begin(), found.pus.end());
    task.numa_node = core == cores.front() || task.numa_node == found.numa_node ? found.numa_node : -1;
  }
  std::ranges::sort(task.pus);
  task.slot = topology::render_slot(machine, cores);
  task.cores = std::move(cores);
  return task;
}

struct HostTasks {
  std::vector<Task> ps, workers;
};

HostTasks place_on_host(const MachineTopology& machine, std::uint32_t host, std::uint32_t ps,
                        std::uint32_t workers) {
  HostTasks tasks;
  std::vector<CoreIndex> left;
  for (const topology::Core& core : machine.cores) left.push_back(core.index);
  if (workers > 0) {
    const topology::MachinePlan plan = place_workers(machine, workers, left.size() / (ps + workers));
    for (const topology::LocalPlacement& local : plan.ranks) {
      Task& task = tasks.workers.emplace_back(make_task(machine, host, local.cores));
      task.gpu = local.gpu;
      std::erase_if(
          left, [&](CoreIndex core) { return std::ranges::find(local.cores, core) != local.cores.end(); });
    }
  }
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < ps; ++i) {
    const std::size_t end = left.size() * (i + 1) / ps;
    const auto from = left.begin() + static_cast<std::ptrdiff_t>(at),
               to = left.begin() + static_cast<std::ptrdiff_t>(end);
    Task& task = tasks.ps.emplace_back(make_task(machine, host, {from, to}));
    task.is_ps = true;
    at = end;
  }
  return tasks;
}

}  // namespace

std::vector<Task> plan_tasks(std::uint32_t ps, std::uint32_t workers, const std::vector<std::string>& hosts,
                             const std::vector<const MachineTopology*>& machines) {
  const std::vector<std::uint32_t> workers_of = deal_workers(workers, machines);
  const std::vector<std::uint32_t> ps_of = deal_rounds(ps, std::vector<std::size_t>(hosts.size(), ps));
  std::vector<Task> first, second;
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    const std::size_t cores = machines[host]->cores.size(), tasks = ps_of[host] + workers_of[host];
    if (tasks > cores) {
      refuse_tasks(fmt::format("{} tasks need a core each, there are {}", tasks, cores), hosts[host],
                   "more hosts, or fewer --ps and --workers");
    }
    HostTasks here = place_on_host(*machines[host], host, ps_of[host], workers_of[host]);
    std::ranges::move(here.ps, std::back_inserter(first));
    std::ranges::move(here.workers, std::back_inserter(second));
  }
  std::ranges::move(second, std::back_inserter(first));
  if (first.size() < ps + workers) {
    refuse_tasks(
        fmt::format("{} tasks, only {} fit on {} hosts", ps + workers, first.size(), hosts.size()),
        "--workers",
        fmt::format("--workers {}", workers - (ps + workers - static_cast<std::uint32_t>(first.size()))));
  }
  return first;
}

std::string render_task_rankfile(const std::vector<Task>& tasks, const std::vector<std::string>& hosts) {
  std::string text = "#parameter servers first, then workers\n\n";
  for (std::size_t rank = 0; rank < tasks.size(); ++rank)
    text += fmt::format("rank {}={} slot={}\n", rank, hosts[tasks[rank].host], tasks[rank].slot);
  return text;
}

}  // namespace ddlrun::frameworks
