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

using Counts = std::vector<std::uint32_t>;  // by host

std::uint64_t sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// One to each host that has room, round after round.
Counts deal_rounds(std::uint32_t count, const Counts& room) {
  Counts dealt(room.size(), 0);
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

Counts less(Counts room, const Counts& taken) {
  for (std::size_t host = 0; host < room.size(); ++host) room[host] -= taken[host];
  return room;
}

// How many tasks each host can take.
Counts find_room(const TaskRequest& request, const std::vector<std::string>& hosts,
                 const std::vector<const MachineTopology*>& machines) {
  const auto each = static_cast<std::uint32_t>(std::max(request.cores_per_task, 1));
  const std::uint64_t tasks = std::uint64_t{request.ps} + request.workers + (request.chief ? 1 : 0);
  Counts room;
  std::uint64_t cores = 0;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const auto here = static_cast<std::uint32_t>(machines[host]->cores.size());
    cores += here;
    const std::uint32_t slots = request.slots.empty() ? here / each : request.slots[host];
    room.push_back(std::min(here / each, slots));
  }
  if (sum_of(room) >= tasks) return room;
  if (!request.slots.empty() && sum_of(request.slots) < tasks) {
    refuse_tasks(fmt::format("{} tasks, the hosts have {} slots", tasks, sum_of(request.slots)), "--workers",
                 "more slots, or fewer --ps and --workers");
  }
  const std::string need = each == 1 ? "a core" : fmt::format("{} cores", each);
  for (std::size_t host = 0; host < hosts.size() && !request.slots.empty(); ++host) {
    if (request.slots[host] <= room[host]) continue;
    refuse_tasks(fmt::format("{} tasks need {} each, there are {}", request.slots[host], need,
                             machines[host]->cores.size()),
                 hosts[host], "more hosts, or fewer tasks here");
  }
  const std::string where = hosts.size() == 1 ? "there are" : fmt::format("the {} hosts have", hosts.size());
  refuse_tasks(fmt::format("{} tasks need {} each, {} {}", tasks, need, where, cores),
               hosts.size() == 1 ? hosts[0] : "--workers", "more hosts, or fewer --ps and --workers");
}

// Where hosts have GPUs: as many workers as GPUs, and a slot of the first host left to the chief.
Counts find_worker_room(const TaskRequest& request, Counts room,
                        const std::vector<const MachineTopology*>& machines) {
  Counts gpus;
  for (const MachineTopology* machine : machines)
    gpus.push_back(static_cast<std::uint32_t>(machine->gpus.size()));
  if (request.chief && room[0] > 0) --room[0];
  for (std::size_t host = 0; host < room.size(); ++host) room[host] = std::min(room[host], gpus[host]);
  if (sum_of(room) >= request.workers) return room;
  const bool lacks_gpus = sum_of(gpus) < request.workers;
  refuse_tasks(lacks_gpus ? fmt::format("{} workers need a GPU each, the {} hosts have {}", request.workers,
                                        machines.size(), sum_of(gpus))
                          : fmt::format("{} workers need a GPU each, only {} fit beside the other tasks",
                                        request.workers, sum_of(room)),
               "--workers", sum_of(room) == 0 ? "more hosts" : fmt::format("--workers {}", sum_of(room)));
}

struct TaskCounts {
  Counts ps, workers;  // a chief is among `ps`
};

// GPUs bind workers to hosts, so they come first there; parameter servers need none.
TaskCounts deal_tasks(const TaskRequest& request, const Counts& room,
                      const std::vector<const MachineTopology*>& machines) {
  const std::uint32_t served = request.ps + (request.chief ? 1 : 0);
  TaskCounts dealt;
  if (std::ranges::any_of(machines, [](const MachineTopology* machine) { return !machine->gpus.empty(); })) {
    dealt.workers = deal_rounds(request.workers, find_worker_room(request, room, machines));
    dealt.ps = deal_rounds(served, less(room, dealt.workers));
  } else {
    dealt.ps = deal_rounds(served, room);
    dealt.workers = deal_rounds(request.workers, less(room, dealt.ps));
  }
  return dealt;
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
                        std::uint32_t workers, int cores_per_task) {
  HostTasks tasks;
  std::vector<CoreIndex> left;
  for (const topology::Core& core : machine.cores) left.push_back(core.index);
  if (workers > 0) {
    topology::PlanOptions exact;
    exact.cores_per_rank = cores_per_task;
    const topology::MachinePlan plan = cores_per_task > 0
                                           ? topology::plan_machine(machine, workers, exact)
                                           : place_workers(machine, workers, left.size() / (ps + workers));
    for (const topology::LocalPlacement& local : plan.ranks) {
      Task& task = tasks.workers.emplace_back(make_task(machine, host, local.cores));
      task.gpu = local.gpu;
      std::erase_if(
          left, [&](CoreIndex core) { return std::ranges::find(local.cores, core) != local.cores.end(); });
    }
  }
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < ps; ++i) {
    const std::size_t end =
        cores_per_task > 0 ? at + static_cast<std::size_t>(cores_per_task) : left.size() * (i + 1) / ps;
    const auto from = left.begin() + static_cast<std::ptrdiff_t>(at),
               to = left.begin() + static_cast<std::ptrdiff_t>(end);
    Task& task = tasks.ps.emplace_back(make_task(machine, host, {from, to}));
    task.is_ps = true;
    at = end;
  }
  return tasks;
}

}  // namespace

std::vector<Task> plan_tasks(const TaskRequest& request, const std::vector<std::string>& hosts,
                             const std::vector<const MachineTopology*>& machines) {
  const TaskCounts counts = deal_tasks(request, find_room(request, hosts, machines), machines);
  std::vector<Task> first, second;
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    HostTasks here =
        place_on_host(*machines[host], host, counts.ps[host], counts.workers[host], request.cores_per_task);
    std::ranges::move(here.ps, std::back_inserter(first));
    std::ranges::move(here.workers, std::back_inserter(second));
  }
  std::ranges::move(second, std::back_inserter(first));
  return first;
}

std::string render_task_rankfile(const std::vector<Task>& tasks, const std::vector<std::string>& hosts) {
  std::string text = "#parameter servers first, then workers\n\n";
  for (std::size_t rank = 0; rank < tasks.size(); ++rank)
    text += fmt::format("rank {}={} slot={}\n", rank, hosts[tasks[rank].host], tasks[rank].slot);
  return text;
}

}  // namespace ddlrun::frameworks
