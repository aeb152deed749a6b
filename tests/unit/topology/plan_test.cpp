// SPDX-License-Identifier: MIT
#include "topology/plan.hpp"

#include "base/text/error.hpp"
#include "tests/support/machines.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ddlrun;
using namespace ddlrun::topology;
using Slots = std::vector<std::string>;

namespace {

Slots slots_of(const MachineTopology& machine, std::uint32_t ranks, const PlanOptions& options = {}) {
  Slots slots;
  for (const LocalPlacement& place : plan_machine(machine, ranks, options).ranks) slots.push_back(place.slot);
  return slots;
}

}  // namespace

TEST_SUITE_BEGIN("topology/plan");

TEST_CASE("without GPUs: packages in turn, as rank_gen.py and by hand in the PowerAI DDL posts") {
  CHECK(slots_of(regular_machine(2, 10, 8, "m"), 4) == Slots{"0:0-4", "0:5-9", "1:0-4", "1:5-9"});
  CHECK(slots_of(regular_machine(2, 8, 1, "m"), 4) == Slots{"0:0-3", "0:4-7", "1:0-3", "1:4-7"});
  CHECK(slots_of(regular_machine(2, 10, 1, "m"), 2) == Slots{"0:0-9", "1:0-9"});
  CHECK(slots_of(regular_machine(2, 10, 1, "m"), 1) == Slots{"0:0-9;1:0-9"});
  CHECK(slots_of(regular_machine(1, 68, 4, "m"), 1) == Slots{"0:0-67"});
  CHECK(slots_of(regular_machine(4, 2, 1, "m"), 2) == Slots{"0:0-1;1:0-1", "2:0-1;3:0-1"});
}

TEST_CASE("what does not divide goes to the lowest ranks and is said") {
  const MachineTopology machine = regular_machine(2, 10, 1, "m");
  CHECK(slots_of(machine, 3) == Slots{"0:0-4", "0:5-9", "1:0-9"});
  CHECK(slots_of(machine, 6) == Slots{"0:0-3", "0:4-6", "0:7-9", "1:0-3", "1:4-6", "1:7-9"});
  CHECK_FALSE(plan_machine(machine, 6, {}).remarks.empty());
  CHECK(plan_machine(machine, 4, {}).remarks.empty());
}

TEST_CASE("unequal packages are written machine-wide, which Open MPI 4 and 5 read alike") {
  const MachineTopology machine = tests::uneven_machine({2, 1, 1, 2});
  CHECK(slots_of(machine, 4) == Slots{"0-1", "2", "3", "4-5"});
  CHECK(slots_of(machine, 6) == Slots{"0", "1", "2", "3", "4", "5"});
  CHECK(slots_of(machine, 2) == Slots{"0-2", "3-5"});
}

TEST_CASE("a rank gets cores of its GPU's own NUMA node") {
  const MachineTopology two = regular_machine(2, 18, 2, "m");
  CHECK(slots_of(tests::with_gpus(two, {0, 0, 1, 1}), 4) == Slots{"0:0-8", "0:9-17", "1:0-8", "1:9-17"});
  // Both on package 0, as in the two-P100 nodes of the pascal cluster: package 1 stays idle, and that is
  // said.
  const auto pascal = plan_machine(tests::with_gpus(two, {0, 0}), 2, {});
  CHECK(pascal.ranks[0].slot == "0:0-8");
  CHECK(pascal.ranks[1].slot == "0:9-17");
  REQUIRE(pascal.remarks.size() == 1);
  CHECK(pascal.remarks[0].find("package 1 stays idle") != std::string::npos);
  // PCI order is not NUMA order: DGX A100 has GPU 0..7 on NUMA 3 3 1 1 7 7 5 5.
  const auto dgx = tests::with_gpus(regular_machine(8, 4, 1, "m"), {3, 3, 1, 1, 7, 7, 5, 5});
  CHECK(slots_of(dgx, 8) == Slots{"3:0-1", "3:2-3", "1:0-1", "1:2-3", "7:0-1", "7:2-3", "5:0-1", "5:2-3"});
  CHECK(slots_of(dgx, 2) == Slots{"3:0-1", "3:2-3"});
}

TEST_CASE("a GPU without locality shares what is left, and is named") {
  const auto machine = tests::with_gpus(regular_machine(2, 8, 1, "m"), {0, -1});
  const auto plan = plan_machine(machine, 2, {});
  CHECK(plan.ranks[0].slot == "0:0-7");
  CHECK(plan.ranks[1].slot == "1:0-7");
  CHECK(plan.remarks[0].find("0000:01:00.0") != std::string::npos);
  // All of them: an even part each; and where the others would leave nothing, they take no more than that.
  CHECK(slots_of(tests::with_gpus(regular_machine(2, 8, 1, "m"), {-1, -1, -1, -1}), 4) ==
        Slots{"0:0-3", "0:4-7", "1:0-3", "1:4-7"});
  CHECK(slots_of(tests::with_gpus(regular_machine(1, 8, 1, "m"), {0, 0, 0, -1}), 4) ==
        Slots{"0:0-1", "0:2-3", "0:4-5", "0:6-7"});
}

TEST_CASE("--cores-per-rank is exact or refused") {
  PlanOptions four;
  four.cores_per_rank = 4;
  const MachineTopology machine = regular_machine(2, 10, 1, "m");
  CHECK(slots_of(machine, 4, four) == Slots{"0:0-3", "0:4-7", "1:0-3", "1:4-7"});
  CHECK(slots_of(machine, 1, four) == Slots{"0:0-3"});
  PlanOptions six;
  six.cores_per_rank = 6;
  CHECK_THROWS_AS(slots_of(machine, 4, six), Error);  // 24 > 20
  CHECK_THROWS_AS(slots_of(machine, 3, six), Error);  // 18 <= 20, but two of them do not fit one package
  CHECK_THROWS_AS(slots_of(tests::with_gpus(machine, {0, 0}), 2, six), Error);
}

TEST_CASE("what cannot be is refused with both numbers") {
  const MachineTopology small = regular_machine(2, 2, 1, "small");
  try {
    plan_machine(small, 5, {});
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.message().what == "5 ranks per node need 5 cores, there are 4");
  }
  CHECK_THROWS_AS(plan_machine(tests::with_gpus(small, {0, 0, 0, 1}), 4, {}), Error);  // 3 GPUs on 2 cores
  CHECK_THROWS_AS(plan_machine(tests::with_gpus(regular_machine(2, 8, 1, "m"), {0, 1}), 3, {}), Error);
  PlanOptions by_packages;
  by_packages.by = MapBy::packages;
  CHECK(slots_of(tests::with_gpus(regular_machine(2, 8, 1, "m"), {0, 1}), 4, by_packages).size() == 4);
  CHECK_THROWS_AS(plan_job({4, 2, 1, 1}, {"h1", "h2", "h3"}, {small}, {0, 0, 0}, {}), Error);
  CHECK_THROWS_AS(plan_job({4, 2, 1, 1}, {"h1", "h1"}, {small}, {0, 0}, {}), Error);
}

TEST_CASE(
    "--oversubscribe: ranks that outnumber the cores are bound to none of them, unless they get one each") {
  PlanOptions shared;
  shared.oversubscribe = true;
  const MachineTopology machine = regular_machine(2, 2, 2, "m");
  CHECK(slots_of(machine, 5, shared) == Slots(5, "0:0-1;1:0-1"));
  CHECK(slots_of(machine, 4, shared) == slots_of(machine, 4, {}));
  CHECK(slots_of(tests::uneven_machine({2, 1}), 4, shared) == Slots(4, "0-2"));
  const MachinePlan plan = plan_machine(machine, 5, shared);
  CHECK(plan.remarks ==
        Slots{"5 ranks share 4 cores, none is bound to one of them: to try a job out, not for speed"});
  CHECK(plan.ranks[4].pus.size() == 8);
  CHECK(plan.ranks[4].numa_node == -1);
  shared.cores_per_rank = 1;
  CHECK(slots_of(machine, 5, shared) == Slots{"0:0", "0:1", "1:0", "1:1", "0:0"});
  shared.cores_per_rank = 2;
  CHECK_THROWS_AS(slots_of(machine, 5, shared), Error);
}

TEST_CASE("--map-by packages is proposed where it places the ranks") {
  const auto hint_of = [](const MachineTopology& machine, std::uint32_t ranks, int cores_each, MapBy by) {
    PlanOptions options;
    options.cores_per_rank = cores_each;
    options.by = by;
    try {
      plan_machine(machine, ranks, options);
    } catch (const Error& error) {
      return error.message().hint;
    }
    return std::string();
  };
  const std::string by_cores = "--map-by packages to place by cores alone";
  const MachineTopology plain = regular_machine(2, 3, 1, "m");
  const MachineTopology two = tests::with_gpus(plain, {0, 1});
  CHECK(hint_of(two, 4, 0, MapBy::automatic) == "dims that begin with 2, or " + by_cores);
  CHECK(hint_of(two, 3, 2, MapBy::automatic) == "dims that begin with 2");  // a package has cores for one
  CHECK(hint_of(plain, 4, 0, MapBy::gpus) == by_cores);
  CHECK(hint_of(plain, 3, 2, MapBy::gpus) == "--map-by packages, and fewer --cores-per-rank");
  CHECK(hint_of(tests::with_gpus(plain, {0, 0, 0, 0}), 4, 0, MapBy::automatic) ==
        "fewer ranks per node, or " + by_cores);
  CHECK(hint_of(tests::with_gpus(plain, {0, 0}), 2, 2, MapBy::automatic) ==
        "--cores-per-rank 1, or " + by_cores);
  for (const auto& [ranks, each] : {std::pair{3U, 2}, std::pair{1U, 7}})
    CHECK(hint_of(plain, ranks, each, MapBy::packages).find("--map-by") == std::string::npos);
}

TEST_CASE("over a grid of machines: every rank has cores, none is used twice, GPUs keep their NUMA node") {
  std::vector<MachineTopology> machines;
  for (int packages = 1; packages <= 4; ++packages)
    for (const int cores : {1, 2, 3, 8, 10, 17}) {
      const MachineTopology plain = regular_machine(packages, cores, 2, "grid");
      machines.push_back(plain);
      std::vector<int> numa;
      for (int g = 0; g < 8; ++g) numa.push_back((g * 5 + cores) % packages);
      machines.push_back(tests::with_gpus(plain, numa));
      numa[3] = -1;
      machines.push_back(tests::with_gpus(plain, numa));
    }
  machines.push_back(tests::uneven_machine({2, 1, 1, 2}));
  machines.push_back(tests::uneven_machine({8, 8, 0, 0}));
  int planned = 0;
  for (const MachineTopology& machine : machines)
    for (std::uint32_t ranks = 1; ranks <= 8; ++ranks) {
      MachinePlan plan;
      try {
        plan = plan_machine(machine, ranks, {});
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::request);
        continue;
      }
      ++planned;
      REQUIRE(plan.ranks.size() == ranks);
      std::set<int> used;
      for (std::size_t x = 0; x < ranks; ++x) {
        const LocalPlacement& place = plan.ranks[x];
        REQUIRE_FALSE(place.cores.empty());
        CHECK_FALSE(place.reason.empty());
        CHECK(place.pus.size() ==
              2 * place.cores.size() - (machine.source == "uneven" ? place.cores.size() : 0));
        for (const CoreIndex core : place.cores) CHECK(used.insert(core.logical).second);
        if (place.gpu < 0) continue;
        CHECK(place.gpu == static_cast<int>(x));
        const Gpu& gpu = machine.gpus[x];
        if (gpu.numa_node >= 0) CHECK(place.numa_node == gpu.numa_node);
      }
    }
  CHECK(planned > 300);
}

TEST_SUITE_END();
