// SPDX-License-Identifier: MIT
#include "launch/history/machine_diff.hpp"

#include "launch/history/run_record.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using topology::MachineTopology;
using topology::regular_machine;

namespace {

MachineTopology with_gpu(std::string pci, std::string model) {
  MachineTopology machine = regular_machine(1, 4, 1, "test");
  machine.gpus.push_back({0, "NVIDIA", std::move(model), std::move(pci), "", 0, 0, "machine", {}});
  return machine;
}

}  // namespace

TEST_SUITE_BEGIN("launch/history/machine_diff");

TEST_CASE("machines, then and now") {
  struct Row {
    MachineTopology then, now;
    std::string reported;  // part of it
  };
  MachineTopology other_pus = regular_machine(2, 4, 2, "test");
  other_pus.cores[3].pus = {{6}, {15}};
  const std::vector<Row> rows{
      {regular_machine(2, 4, 2, "a file"), regular_machine(2, 4, 2, "ssh h"), ""},
      {regular_machine(2, 4, 1, ""), regular_machine(2, 6, 1, ""),
       "8 cores, 8 PUs, 0 GPUs, now 2 packages, 12 cores"},
      {regular_machine(2, 4, 1, ""), regular_machine(2, 4, 2, ""),
       "8 PUs, 0 GPUs, now 2 packages, 8 cores, 16 PUs"},
      {regular_machine(2, 4, 2, ""), other_pus,
       "with PUs 6-7, now core 3 of package 0 on NUMA node 0 with PUs 6,15"},
      {with_gpu("0000:01:00.0", "A"), with_gpu("0000:01:00.0", "A"), ""},
      {with_gpu("0000:01:00.0", "A"), with_gpu("0000:02:00.0", "A"),
       "at 0000:01:00.0, now A at 0000:02:00.0"},
      {with_gpu("0000:01:00.0", "A"), with_gpu("0000:01:00.0", "B"), "GPU 0 was A at"},
      {with_gpu("0000:01:00.0", "A"), regular_machine(1, 4, 1, ""), "1 GPUs, now"}};
  for (const Row& row : rows) {
    CAPTURE(row.reported);
    const std::string change = launch::describe_machine_change(row.then, row.now);
    CHECK(change.empty() == row.reported.empty());
    CHECK(change.find(row.reported) != std::string::npos);
  }
}

TEST_CASE("rankfiles that place the ranks alike") {
  CHECK(launch::same_ranks("# one\nrank 0=h1 slot=0:0-3\n", "#two\nrank 0=h1 slot=0:0-3\n"));
  CHECK_FALSE(launch::same_ranks("rank 0=h1 slot=0:0-3\n", "rank 0=h1 slot=0:0-2\n"));
  CHECK_FALSE(launch::same_ranks("rank 0=h1 slot=0:0-3\n", "rank 0=h2 slot=0:0-3\n"));
  CHECK_FALSE(launch::same_ranks("rank 0=h1 slot=0:0-3\n", "rank 0=h1 slot=0:0-3\nrank 1=h1 slot=1:0-3\n"));
}

TEST_CASE("exported values, then and now") {
  launch::RunRecord run;
  run.exported = {"PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "KEY"};
  run.digests = {{"PATH", launch::render_digest("/bin")},
                 {"LD_LIBRARY_PATH", launch::render_digest("/lib")},
                 {"OMP_NUM_THREADS", launch::render_digest("4")}};
  Environment environment;
  environment.variables = {{"PATH", "/bin"}, {"LD_LIBRARY_PATH", "/other"}};
  CHECK(launch::export_changes(run, {"KEY"}, environment) ==
        std::vector<std::string>{"LD_LIBRARY_PATH is not what it was then",
                                 "values of now, perhaps not those of then: KEY"});
  CHECK(launch::export_changes(run, {"KEY=new"}, environment) ==
        std::vector<std::string>{"LD_LIBRARY_PATH is not what it was then"});
}

TEST_SUITE_END();
