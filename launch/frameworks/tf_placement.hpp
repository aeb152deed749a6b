// SPDX-License-Identifier: MIT
// TensorFlow's parameter servers and workers on hosts that differ: each worker has its own GPU, parameter
// servers and workers without GPUs share the cores. The notes' own job: one host with one card, one with two.
#pragma once

#include "topology/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::frameworks {

struct Task {
  bool is_ps = false;      // or the chief, which is the first of them
  std::uint32_t host = 0;  // index in `hosts`
  std::vector<topology::CoreIndex> cores;
  std::vector<topology::PuIndex> pus;
  int gpu = -1;
  int numa_node = -1;  // logical, or -1
  std::string slot;    // as a rankfile writes it
};

struct TaskRequest {
  std::uint32_t ps = 0, workers = 0;
  bool chief = false;                  // on the first host that has room, as one parameter server more
  std::vector<std::uint32_t> slots{};  // the most tasks of each host; empty: one for each core
  int cores_per_task = 0;              // 0: all cores are dealt out; else exactly so many each
};

// Rank by rank: chief and parameter servers, then workers, both in the order of the hosts. Hosts take turns
// as long as they have room. Error{request} with both numbers where there are more workers than GPUs (on
// hosts that have any), or more tasks than cores or slots.
std::vector<Task> plan_tasks(const TaskRequest& request, const std::vector<std::string>& hosts,
                             const std::vector<const topology::MachineTopology*>& machines);

// "rank 0=h1 slot=0:0-3" and so on.
std::string render_task_rankfile(const std::vector<Task>& tasks, const std::vector<std::string>& hosts);

}  // namespace ddlrun::frameworks
