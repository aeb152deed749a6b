// SPDX-License-Identifier: MIT
// Machine files against what is known of them; tests/cli/topo.sh asks hwloc-calc the same.
#include "topology/hwloc_reader.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "topology/synthetic_size.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

using namespace ddlrun;
using namespace ddlrun::topology;

namespace {

MachineTopology load(const std::string& name) {
  std::ifstream file(std::string(DDLRUN_TEST_DATA) + "/topologies/" + name + ".xml");
  REQUIRE(file);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return HwlocMachine::from_xml(bytes.str(), name).machine(name);
}

// "10 10": usable cores by package.
std::string package_cores(const MachineTopology& machine) {
  std::string text;
  for (const Package& package : machine.packages)
    text += (text.empty() ? "" : " ") + std::to_string(package.core_count);
  return text;
}

// "0:5 2:5 1m": logical number and cores of each NUMA node, m where it is memory only.
std::string numa_nodes(const MachineTopology& machine) {
  std::string text;
  for (const NumaNode& node : machine.numa_nodes) {
    text += (text.empty() ? "" : " ") + std::to_string(node.logical) +
            (node.memory_only ? "m" : ":" + std::to_string(node.cores.size()));
  }
  return text;
}

// "02:01:00.0@0": PCI address and locality.
std::string gpus(const MachineTopology& machine) {
  std::string text;
  for (const Gpu& gpu : machine.gpus)
    text += (text.empty() ? "" : " | ") + gpu.pci_bus_id + " " + gpu.locality;
  return text;
}

std::string unusable(const MachineTopology& machine) {
  std::vector<int> numbers;
  for (const PuIndex pu : machine.unusable_pus) numbers.push_back(pu.os);
  return render_ranges(numbers);
}

}  // namespace

TEST_SUITE_BEGIN("topology/hwloc_reader");

TEST_CASE("machines of every shape") {
  struct Row {
    const char* file;
    const char* cores;
    int pus;
    const char* numa;
    const char* unusable;
    const char* gpus;
  };
  const Row rows[] = {
      {"power_2pkg_10core_smt8_4gpu_bmc", "10 10", 160, "0:10 1:10", "",
       "0002:01:00.0 NUMA node 0 | 0003:01:00.0 NUMA node 0 | 0006:01:00.0 NUMA node 1 | 0007:01:00.0 NUMA "
       "node 1"},
      {"epyc_1pkg_16core_smt2_4numa_8gpu_reordered", "16", 32, "0:4 1:4 2:4 3:4", "",
       "0000:c1:00.0 NUMA node 3 (L3 P#6) | 0000:c6:00.0 NUMA node 3 (L3 P#7) | "
       "0000:c9:00.0 NUMA node 1 (L3 P#2) | 0000:ce:00.0 NUMA node 1 (L3 P#3) | "
       "0000:d1:00.0 NUMA node 0 (L3 P#0) | 0000:d6:00.0 NUMA node 0 (L3 P#1) | "
       "0000:d9:00.0 NUMA node 2 (L3 P#4) | 0000:de:00.0 NUMA node 2 (L3 P#5)"},
      {"x86_2pkg_4core_smt2_2gpu_one_package", "4 4", 16, "0:4 1:4", "",
       "0000:04:00.0 NUMA node 0 | 0000:81:00.0 NUMA node 0"},
      {"knl_1pkg_18core_smt4_snc4_flat", "18", 72, "0:5 1m 2:5 3m 4:4 5m 6:4 7m", "", ""},
      {"x86_4pkg_2_1_1_2core_offline", "2 1 1 2", 9, "0:6", "5,9,11", ""},
      {"vm_2pkg_2core_gpu_on_machine", "2 2", 4, "0:2 1:2", "", "0000:00:05.0 machine"},
      {"x86_3pkg_2_2_0core_gpu_on_package_not_allowed", "2 2 0", 4, "0:2 1:2", "4-5",
       "0002:01:00.0 package 2, which has no usable core"},
      {"vm_no_package_8pu_2numa_cxl", "", 8, "0:4 1:4 2m", "", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.file);
    const MachineTopology machine = load(row.file);
    CHECK(package_cores(machine) == row.cores);
    CHECK(machine.pu_count() == row.pus);
    CHECK(numa_nodes(machine) == row.numa);
    CHECK(unusable(machine) == row.unusable);
    CHECK(gpus(machine) == row.gpus);
  }
}

TEST_CASE("a GPU has the cores of its NUMA node, and none where it has no place") {
  const MachineTopology epyc = load("epyc_1pkg_16core_smt2_4numa_8gpu_reordered");
  CHECK(epyc.gpus[0].cores == std::vector<CoreIndex>{{12}, {13}, {14}, {15}});
  CHECK(epyc.gpus[0].package == 0);
  CHECK(epyc.gpus[0].uuid == "0000000000000030");
  CHECK(epyc.gpus[4].cores == std::vector<CoreIndex>{{0}, {1}, {2}, {3}});
  const MachineTopology spread = load("vm_2pkg_2core_gpu_on_machine");
  CHECK(spread.gpus[0].cores.empty());
  CHECK(spread.gpus[0].numa_node == -1);
  CHECK(spread.gpus[0].package == -1);
  const MachineTopology outside = load("x86_3pkg_2_2_0core_gpu_on_package_not_allowed");
  CHECK(outside.gpus[0].cores.empty());
  CHECK(outside.gpus[0].package == 2);
  CHECK(outside.packages[2].os == 4);
}

TEST_CASE("models and NICs") {
  const MachineTopology minsky = load("power_2pkg_10core_smt8_4gpu_bmc");
  CHECK(minsky.host_name == "minsky1");
  CHECK(minsky.packages[1].os == 8);
  CHECK(minsky.packages[1].model == "POWER8NVL");
  CHECK(minsky.gpus[0].model == "Tesla P100-SXM2-16GB");
  CHECK(minsky.gpus[2].model == "10de:15f9");  // no driver reported its name
  CHECK(minsky.numa_nodes[0].memory_bytes == 128ull << 30);
  REQUIRE(minsky.nics.size() == 3);
  CHECK(minsky.nics[0].name == "mlx5_0");  // the device before its network interface
  CHECK(minsky.nics[0].kind == "infiniband");
  CHECK(minsky.nics[1].name == "ib0");
  CHECK(minsky.nics[2].name == "enP5p7s0f0");
  CHECK(minsky.nics[2].kind == "ethernet");
  CHECK(minsky.nics[2].numa_node == 1);
  CHECK(load("knl_1pkg_18core_smt4_snc4_flat").nics[0].kind == "omnipath");
}

TEST_CASE("cores know package, place and threads") {
  const MachineTopology uneven = load("x86_4pkg_2_1_1_2core_offline");
  const Core& last = uneven.cores[5];
  CHECK(last.package == 3);
  CHECK(last.index_in_package == 1);
  CHECK(last.pus == std::vector<PuIndex>{{10}});
  CHECK(uneven.cores[0].pus == std::vector<PuIndex>{{0}, {1}});
  const MachineTopology bare = load("vm_no_package_8pu_2numa_cxl");
  CHECK(bare.cores.size() == 8);
  CHECK(bare.cores[7].package == -1);
  CHECK(bare.cores[7].index_in_package == 7);
}

TEST_CASE("synthetic machines equal counted ones") {
  MachineTopology machine = HwlocMachine::from_synthetic("pack:2 [numa] core:10 pu:8").machine("x");
  for (NumaNode& node : machine.numa_nodes) node.memory_bytes = 0;
  CHECK(machine == regular_machine(2, 10, 8, "x"));
}

TEST_CASE("what hwloc writes it reads back") {
  const HwlocMachine machine = HwlocMachine::from_synthetic("pack:2 core:3 pu:2");
  CHECK(HwlocMachine::from_xml(machine.xml(), "again").machine("") == machine.machine(""));
}

TEST_CASE("refusals name the input") {
  CHECK_THROWS_AS(HwlocMachine::from_xml("<topology", "x.xml"), Error);
  CHECK_THROWS_AS(HwlocMachine::from_synthetic("pack:2 nonsense:3"), Error);
  CHECK_THROWS_AS(HwlocMachine::from_synthetic("pack:1024 core:1024 pu:1024"), Error);
}

TEST_CASE("the size of a synthetic machine is known before it is built") {
  CHECK(synthetic_size("pack:2 core:8 pu:2") == 32);
  CHECK(synthetic_size("2 4 2") == 16);
  CHECK(synthetic_size("pack:2 [numa(memory=16GB)] core:8(indexes=0,1) pu:2") == 32);
  CHECK(synthetic_size("(attr) pack:3 pu:1") == 3);
  CHECK(synthetic_size("pack:4294967296 core:4294967296 pu:16") == UINT64_MAX);
}

TEST_SUITE_END();
