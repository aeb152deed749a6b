// SPDX-License-Identifier: MIT
#include "launch/plan/default_ranks.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using topology::MachineTopology;
using topology::MapBy;
using topology::PlanOptions;
using topology::regular_machine;

namespace {

MachineTopology with_gpus(MachineTopology machine, int count) {
  for (int i = 0; i < count; ++i) {
    topology::Gpu gpu;
    gpu.index = i;
    machine.gpus.push_back(gpu);
  }
  return machine;
}

std::uint32_t ranks(const std::vector<MachineTopology>& machines, MapBy by = MapBy::automatic,
                    int cores = 0) {
  PlanOptions options;
  options.by = by;
  options.cores_per_rank = cores;
  return launch::default_ranks(machines, options).ranks;
}

}  // namespace

TEST_SUITE_BEGIN("launch/plan/default_ranks");

TEST_CASE("machines without GPUs get about four ranks, never more than cores") {
  struct Row {
    int packages, cores, cores_per_rank;
    std::uint32_t ranks;
  };
  for (const Row& row : {Row{1, 1, 0, 1}, Row{1, 2, 0, 2}, Row{1, 4, 0, 4}, Row{1, 68, 0, 4},
                         Row{2, 20, 0, 4}, Row{2, 1, 0, 2}, Row{4, 8, 0, 4}, Row{8, 8, 0, 8}, Row{3, 8, 0, 6},
                         Row{1, 8, 4, 2}, Row{2, 10, 10, 2}, Row{1, 2, 5, 1}}) {
    CAPTURE(row.packages);
    CAPTURE(row.cores);
    CAPTURE(row.cores_per_rank);
    CHECK(ranks({regular_machine(row.packages, row.cores, 1, "test")}, MapBy::automatic,
                row.cores_per_rank) == row.ranks);
  }
}

TEST_CASE("the reason says what limits the ranks") {
  struct Row {
    int packages, cores, cores_per_rank;
    const char* reason;
  };
  for (const Row& row :
       {Row{1, 1, 0, "no GPUs: 1 rank per host, which has 1 core"},
        Row{1, 2, 0, "no GPUs: 2 ranks per host, one for each of its 2 cores"},
        Row{1, 68, 0, "no GPUs: 4 ranks per host by default, which has 68 cores"},
        Row{2, 10, 0, "no GPUs: 4 ranks per host by default, 2 on each of its 2 packages; it has 20 cores"},
        Row{1, 8, 4, "no GPUs: 2 ranks per host, as its 8 cores allow no more of 4 each"}}) {
    CAPTURE(row.reason);
    PlanOptions options;
    options.cores_per_rank = row.cores_per_rank;
    CHECK(launch::default_ranks({regular_machine(row.packages, row.cores, 1, "test")}, options).reason ==
          row.reason);
  }
}

TEST_CASE("GPUs decide unless the user wants packages") {
  const MachineTopology minsky = with_gpus(regular_machine(2, 10, 8, "test"), 4);
  CHECK(ranks({minsky}) == 4);
  CHECK(ranks({with_gpus(regular_machine(2, 10, 8, "test"), 6)}) == 6);
  CHECK(ranks({with_gpus(regular_machine(2, 10, 8, "test"), 6)}, MapBy::packages) == 4);
}

TEST_CASE("of different hosts the smallest decides, and it is said") {
  const MachineTopology four = with_gpus(regular_machine(2, 10, 8, "test"), 4);
  const MachineTopology two = with_gpus(regular_machine(2, 10, 8, "test"), 2);
  CHECK(ranks({four, two}) == 2);
  CHECK(ranks({two, four}) == 2);
  const auto said = launch::default_ranks({two, four}, {}).reason;
  CHECK(said.find("differ") != std::string::npos);
  CHECK(launch::default_ranks({two, two}, {}).reason.find("differ") == std::string::npos);
}

TEST_SUITE_END();
