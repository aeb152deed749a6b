// SPDX-License-Identifier: MIT
#include "topology/machine_text.hpp"

#include "tests/support/machines.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::topology;

TEST_SUITE_BEGIN("topology/machine_text");

TEST_CASE("an IBM S822LC as IBM describes it: 2 packages of 10 cores with 8 threads, 4 GPUs") {
  MachineTopology machine = tests::with_gpus(regular_machine(2, 10, 8, "minsky.xml"), {0, 0, 1, 1});
  machine.host_name = "minsky1";
  machine.numa_nodes[0].memory_bytes = 256ull << 30;
  machine.numa_nodes[1].memory_bytes = 3ull << 29;  // 1.5 GiB
  machine.nics.push_back({"ib0", "infiniband", "0000:01:00.0", "", 0});
  CHECK(render_machine_summary(machine) == "20 cores x 8 threads in 2 packages, 2 NUMA nodes, 4 GPUs");
  CHECK(render_machine_text(machine) ==
        "minsky1  (minsky.xml)\n"
        "20 cores x 8 threads in 2 packages, 2 NUMA nodes, 4 GPUs\n"
        "\n"
        "package 0  10 cores: 0-9\n"
        "  NUMA node 0  256 GiB  cores 0-9  PUs 0-79\n"
        "    GPU 0  0000:00:00.0  NVIDIA test GPU\n"
        "    GPU 1  0000:01:00.0  NVIDIA test GPU\n"
        "    NIC ib0         infiniband  0000:01:00.0\n"
        "package 1  10 cores: 10-19\n"
        "  NUMA node 1  1.5 GiB  cores 10-19  PUs 80-159\n"
        "    GPU 2  0000:02:00.0  NVIDIA test GPU\n"
        "    GPU 3  0000:03:00.0  NVIDIA test GPU\n");
}

TEST_CASE("what is unusual is shown: packages that differ, memory without cores, processors not allowed") {
  MachineTopology machine = tests::with_gpus(tests::uneven_machine({2, 1}), {-1});
  machine.cores[2].pus.push_back({{7}});
  machine.packages[1].os = 8;
  machine.numa_nodes.push_back({2, 2, 16ull << 30, true, {}});
  machine.unusable_pus = {{3}, {4}, {9}};
  const std::string text = render_machine_text(machine);
  CHECK(text.find("3 cores x 1 or 2 threads in 2 packages, 2 NUMA nodes + 1 memory only, 1 GPU\n") !=
        std::string::npos);
  CHECK(text.find("package 1 (P#8)  1 core: 2\n") != std::string::npos);
  CHECK(text.find("machine\n  NUMA node 2  16 GiB  memory only\n  GPU 0 ") != std::string::npos);
  CHECK(text.find("on the machine as a whole\n") != std::string::npos);
  CHECK(text.find("not usable (offline or not allowed): PUs 3-4,9\n") != std::string::npos);
  CHECK(
      text.find("Packages differ in cores, so rankfiles for this machine use machine-wide core numbers.\n") !=
      std::string::npos);
}

TEST_CASE("a machine without anything, and names that would act on a terminal") {
  CHECK(render_machine_summary(MachineTopology{}) == "0 cores, 0 NUMA nodes, 0 GPUs");
  MachineTopology machine = regular_machine(1, 1, 1, "x");
  machine.host_name = "h\x1b[31m";
  machine.nics.push_back({"e\nth0", "ethernet", "", "", -1});
  const std::string text = render_machine_text(machine);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("e\nth0") == std::string::npos);
}

TEST_SUITE_END();
