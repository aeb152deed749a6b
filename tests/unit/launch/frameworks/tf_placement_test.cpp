// SPDX-License-Identifier: MIT
#include "launch/frameworks/tf_placement.hpp"

#include "tests/unit/launch/frameworks/framework_jobs.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ddlrun;
using frameworks::plan_tasks;
using frameworks::Task;
using frameworks::TaskRequest;
using topology::MachineTopology;

namespace {

// No core is given twice, and all of a task's are its host's.
void check_cores(const std::vector<Task>& tasks, const std::vector<const MachineTopology*>& machines) {
  std::set<std::pair<std::uint32_t, int>> taken;
  for (const Task& task : tasks) {
    CHECK(!task.cores.empty());
    for (const auto core : task.cores) {
      CHECK(core.logical < static_cast<int>(machines[task.host]->cores.size()));
      CHECK(taken.emplace(task.host, core.logical).second);
    }
  }
}

}  // namespace

TEST_SUITE_BEGIN("launch/frameworks/tf_placement");

TEST_CASE("the notes' hosts: one card and two cards, 2 parameter servers and 3 workers") {
  const auto one = tests::with_gpus(topology::regular_machine(1, 4, 2, "one"), {0});
  const auto two = tests::with_gpus(topology::regular_machine(1, 6, 2, "two"), {0, 0});
  const std::vector<const MachineTopology*> machines{&one, &two};
  const auto tasks = plan_tasks({2, 3}, {"192.168.0.20", "192.168.0.80"}, machines);
  struct Row {
    bool is_ps;
    std::uint32_t host;
    int gpu;
  };
  const std::vector<Row> rows{{true, 0, -1}, {true, 1, -1}, {false, 0, 0}, {false, 1, 0}, {false, 1, 1}};
  REQUIRE(tasks.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(tasks[i].is_ps == rows[i].is_ps);
    CHECK(tasks[i].host == rows[i].host);
    CHECK(tasks[i].gpu == rows[i].gpu);
    CHECK(tasks[i].pus.size() == 2 * tasks[i].cores.size());
  }
  check_cores(tasks, machines);
  CHECK(frameworks::render_task_rankfile(tasks, {"a", "b"}).find("rank 4=b slot=0:") != std::string::npos);
}

TEST_CASE("a worker keeps to its GPU's NUMA node, even where that has too few cores for an even share") {
  // Both GPUs on node 0 of 8 cores; 2 workers and 1 server would share 16 cores by 5.
  const auto machine = tests::with_gpus(topology::regular_machine(2, 8, 1, "m"), {0, 0});
  const std::vector<const MachineTopology*> machines{&machine};
  const auto tasks = plan_tasks({1, 2}, {"h"}, machines);
  check_cores(tasks, machines);
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK(tasks[i].cores.size() == 4);
    CHECK(tasks[i].numa_node == 0);
  }
  CHECK(tasks[0].cores.size() == 8);
  CHECK(tasks[0].numa_node == 1);
}

TEST_CASE("without GPUs the cores are shared; hosts take turns") {
  const auto machine = topology::regular_machine(2, 4, 1, "m");
  const std::vector<const MachineTopology*> machines(3, &machine);
  const auto tasks = plan_tasks({2, 4}, {"a", "b", "c"}, machines);
  check_cores(tasks, machines);
  const std::vector<std::uint32_t> hosts{0, 1, 0, 0, 1, 2};
  for (std::size_t i = 0; i < tasks.size(); ++i) CHECK(tasks[i].host == hosts[i]);
}

// "h0 ps, h1 worker gpu 0": what each rank is and where.
std::string render_tasks(const std::vector<Task>& tasks) {
  std::string text;
  for (const Task& task : tasks) {
    text += (text.empty() ? "h" : ", h") + std::to_string(task.host) + (task.is_ps ? " ps" : " worker");
    if (task.gpu >= 0) text += " gpu " + std::to_string(task.gpu);
  }
  return text;
}

TEST_CASE("the cores of unequal hosts: a task goes where one is left") {
  const auto small = topology::regular_machine(1, 2, 1, "small"),
             large = topology::regular_machine(1, 8, 1, "large");
  const std::vector<const MachineTopology*> machines{&small, &large};
  const auto tasks = plan_tasks({2, 4}, {"a", "b"}, machines);
  check_cores(tasks, machines);
  CHECK(render_tasks(tasks) == "h0 ps, h1 ps, h0 worker, h1 worker, h1 worker, h1 worker");
}

TEST_CASE("the slots of unequal hosts: a chief, 2 parameter servers and 3 workers on h1:4,h2:2") {
  const auto plain = topology::regular_machine(2, 4, 1, "plain");
  const auto one = tests::with_gpus(topology::regular_machine(1, 8, 1, "one"), {0}),
             two = tests::with_gpus(topology::regular_machine(2, 4, 1, "two"), {0, 1});
  struct Row {
    std::vector<const MachineTopology*> machines;
    TaskRequest request;
    const char* tasks;
  };
  const Row rows[] = {
      {{&plain, &plain}, {2, 3, true, {4, 2}}, "h0 ps, h0 ps, h1 ps, h0 worker, h0 worker, h1 worker"},
      {{&two, &one},
       {2, 3, true, {4, 2}},
       "h0 ps, h0 ps, h1 ps, h0 worker gpu 0, h0 worker gpu 1, h1 worker gpu 0"},
      // A worker goes to the GPU of the first host, the servers to the other host's slots.
      {{&one, &two}, {2, 2, false, {1, 3}}, "h1 ps, h1 ps, h0 worker gpu 0, h1 worker gpu 0"},
      // The chief keeps its slot of the first host, the worker goes to the second.
      {{&one, &two}, {1, 2, true, {1, 3}}, "h0 ps, h1 ps, h1 worker gpu 0, h1 worker gpu 1"},
      // More slots than tasks: the hosts take turns.
      {{&plain, &plain}, {1, 2, false, {4, 2}}, "h0 ps, h0 worker, h1 worker"}};
  for (const Row& row : rows) {
    CAPTURE(row.tasks);
    const auto tasks = plan_tasks(row.request, {"a", "b"}, row.machines);
    check_cores(tasks, row.machines);
    CHECK(render_tasks(tasks) == row.tasks);
  }
}

TEST_CASE("cores of each task as requested") {
  const auto machine = topology::regular_machine(1, 8, 1, "m");
  const std::vector<const MachineTopology*> machines{&machine};
  const auto tasks = plan_tasks({2, 2, false, {}, 2}, {"a"}, machines);
  check_cores(tasks, machines);
  for (const Task& task : tasks) CHECK(task.cores.size() == 2);
  CHECK(tests::refusal_of([&] {
          plan_tasks({2, 2, false, {}, 3}, {"a"}, machines);
        }) == "4 tasks need 3 cores each, there are 8 | a | more hosts, or fewer --ps and --workers");
}

TEST_CASE("too many workers for the GPUs, too many tasks for the cores: both numbers") {
  const auto gpu = tests::with_gpus(topology::regular_machine(1, 4, 1, "m"), {0});
  const auto small = topology::regular_machine(1, 2, 1, "m");
  CHECK(tests::refusal_of([&] {
          plan_tasks({1, 3}, {"a", "b"}, {&gpu, &gpu});
        }) == "3 workers need a GPU each, the 2 hosts have 2 | --workers | --workers 2");
  CHECK(tests::refusal_of([&] {
          plan_tasks({1, 2}, {"a"}, {&small});
        }) == "3 tasks need a core each, there are 2 | a | more hosts, or fewer --ps and --workers");
  CHECK(tests::refusal_of([&] {
          plan_tasks({2, 3}, {"a", "b"}, {&small, &small});
        }) ==
        "5 tasks need a core each, the 2 hosts have 4 | --workers | more hosts, or fewer --ps and --workers");
  CHECK(tests::refusal_of([&] {
          plan_tasks({1, 3, false, {3, 1}}, {"a", "b"}, {&small, &small});
        }) == "3 tasks need a core each, there are 2 | a | more hosts, or fewer tasks here");
  CHECK(tests::refusal_of([&] {
          plan_tasks({1, 3, false, {2, 1}}, {"a", "b"}, {&small, &small});
        }) == "4 tasks, the hosts have 3 slots | --workers | more slots, or fewer --ps and --workers");
  CHECK(tests::refusal_of([&] {
          plan_tasks({1, 2, true, {1, 3}}, {"a", "b"}, {&gpu, &gpu});
        }) == "2 workers need a GPU each, only 1 fit beside the other tasks | --workers | --workers 1");
}

TEST_SUITE_END();
