// SPDX-License-Identifier: MIT
// Expected sets were read off Open MPI 4.1.4's parser (2 packages x 4 cores x 2 threads, PU c and c+8), those
// of Open MPI 5 off PRRTE 3.0.14's.
#include "topology/rankfile/slot_list.hpp"

#include "base/text/text.hpp"
#include "tests/support/machines.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::topology;
using namespace ddlrun::rankfile;

namespace {

// As many x86 machines number their threads: siblings are 8 apart.
MachineTopology x86_machine() {
  MachineTopology machine = regular_machine(2, 4, 2, "test");
  for (Core& core : machine.cores) core.pus = {{core.index.logical}, {core.index.logical + 8}};
  return machine;
}

std::string pus_of(std::string_view slots, const MachineTopology& machine, int mpi_major) {
  std::vector<int> pus;
  for (const PuIndex pu : pus_of_cores(machine, resolve_slots(slots, machine, mpi_major)))
    pus.push_back(pu.os);
  return render_ranges(pus);
}

std::string ids_of(const SlotReading& reading) {
  std::vector<std::string> ids;
  for (const SlotProblem& problem : reading.problems) ids.push_back(problem.id);
  return join(ids, " ");
}

}  // namespace

TEST_SUITE_BEGIN("topology/rankfile/slot_list");

TEST_CASE("slot texts that Open MPI 4 and 5 take as written") {
  struct Row {
    const char* slots;
    const char* pus;
  };
  const Row rows[] = {
      {"0:0-1", "0-1,8-9"},
      {"1:0", "4,12"},
      {"0:*", "0-3,8-11"},
      {"1:*", "4-7,12-15"},
      {"S0", "0-3,8-11"},
      {"s0-1", "0-15"},
      {"s*", "0-15"},
      {"4", "4,12"},
      {"2-3,6", "2-3,6,10-11,14"},
      {"0:0-1;1:0-1", "0-1,4-5,8-9,12-13"},
  };
  const MachineTopology machine = x86_machine();
  for (const Row& row : rows) {
    for (const int mpi_major : {4, 5}) {
      CAPTURE(row.slots);
      CAPTURE(mpi_major);
      CHECK(ids_of(read_slots(row.slots, &machine, mpi_major)) == "");
      CHECK(pus_of(row.slots, machine, mpi_major) == row.pus);
    }
  }
}

TEST_CASE("Open MPI 5 differs") {
  struct Row {
    const char* slots;
    int mpi_major;
    const char* ids;
    const char* corrected;
  };
  const Row rows[] = {
      {"1:0,1", 4, "comma-in-package-list", "1:0-1"},
      {"1:0,1", 5, "", ""},
      {"0:0-1,3", 4, "comma-in-package-list", "0:0-1;0:3"},
      {"0:0-1,3", 5, "comma-in-package-list", "0:0-1;0:3"},
      {"0:0,1:0", 4, "", ""},
      {"0:0,1:0", 5, "comma-between-packages", "0:0;1:0"},
      {"0:4", 5, "core-not-there", ""},
      {"P0", 5, "", ""},
      {"P0", 4, "bad-slot-number", ""},
  };
  const MachineTopology machine = x86_machine();
  for (const Row& row : rows) {
    CAPTURE(row.slots);
    CAPTURE(row.mpi_major);
    const SlotReading reading = read_slots(row.slots, &machine, row.mpi_major);
    CHECK(ids_of(reading) == row.ids);
    CHECK((reading.problems.empty() ? "" : reading.problems[0].corrected) == row.corrected);
  }
}

TEST_CASE("packages of different size: right in 4, counted wrongly by 5") {
  const MachineTopology machine = tests::uneven_machine({2, 1, 1, 2});
  CHECK(ids_of(read_slots("1:0", &machine, 4)) == "");
  CHECK(pus_of("1:0", machine, 4) == "2");
  CHECK(pus_of("3:0-1", machine, 4) == "4-5");
  CHECK(ids_of(read_slots("0:0-1", &machine, 5)) == "");
  const SlotReading five = read_slots("1:0", &machine, 5);  // PRRTE gives a core of package 0
  CHECK(ids_of(five) == "unequal-packages");
  CHECK(five.problems[0].corrected == "2");
  CHECK(ids_of(read_slots("2-3", &machine, 5)) == "");
}

TEST_CASE("without a machine only the form is checked") {
  CHECK(ids_of(read_slots("9:99", nullptr)) == "");
  CHECK(read_slots("9:99", nullptr).cores.empty());
  CHECK(ids_of(read_slots("9:3-1", nullptr)) == "reversed-range");
  CHECK(read_slots("9:3-1;9:5", nullptr).problems[0].corrected == "9:1-3;9:5");
}

TEST_CASE("problems say where they are and what to do") {
  const MachineTopology machine = x86_machine();
  const SlotReading reading = read_slots("0:0;0:9;1:7-8", &machine);
  REQUIRE(reading.problems.size() == 2);
  CHECK(reading.problems[0].offset == 6);
  CHECK(reading.problems[1].offset == 10);
  for (const SlotProblem& problem : reading.problems) {
    CHECK(problem.what.find("2 packages of 4 cores") != std::string::npos);
    CHECK(problem.hint != "");
  }
}

TEST_CASE("ranges are merged and joined so that 4 and 5 read them alike") {
  CHECK(render_slot_ranges({{0, 2, 2}, {0, 0, 1}, {1, 3, 4}}) == "0:0-2;1:3-4");
  CHECK(render_slot_ranges({{-1, 8, 9}, {-1, 3, 3}}) == "3,8-9");
  CHECK(render_slot_ranges({{0, 1, 1}, {-1, 7, 7}}) == "7;0:1");
  CHECK(render_slot_ranges({{1, 0, SlotRange::all}, {1, 2, 3}}) == "1:*");
}

TEST_SUITE_END();
