// SPDX-License-Identifier: MIT
// One machine as a value: packages, NUMA nodes, cores, hardware threads, GPUs, NICs. Filled from hwloc, from
// a saved document or by hand; nothing here touches the machine.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::topology {

// A core's number in hwloc's logical order over the usable cores of the machine: what a rankfile means.
struct CoreIndex {
  int logical = 0;
  auto operator<=>(const CoreIndex&) const = default;
};

// A hardware thread's number as Linux gives it: what a cpuset, taskset or Slurm's map_cpu means.
struct PuIndex {
  int os = 0;
  auto operator<=>(const PuIndex&) const = default;
};

struct Core {
  CoreIndex index;           // equals its place in MachineTopology::cores
  int package = -1;          // logical; -1 on machines without package objects
  int index_in_package = 0;  // the C of a rankfile's S:C
  int numa_node = -1;        // logical index of the local NUMA node with processors; -1 if there is none
  std::vector<PuIndex> pus;  // ascending; the siblings stay together

  bool operator==(const Core&) const = default;
};

struct Package {
  int logical = 0;
  int os = 0;  // P#; 0 and 8 on some POWER machines
  std::string model;
  int core_count = 0;  // usable ones; 0 where the package only holds devices

  bool operator==(const Package&) const = default;
};

struct NumaNode {
  int logical = 0;
  int os = 0;
  std::uint64_t memory_bytes = 0;
  bool memory_only = false;  // no processors of its own: MCDRAM beside its DDR node, GPU or CXL memory
  std::vector<CoreIndex> cores;

  bool operator==(const NumaNode&) const = default;
};

// A GPU for computing (NVIDIA, AMD, Intel); a BMC's display controller is not one.
struct Gpu {
  int index = 0;           // in PCI bus order = CUDA_DEVICE_ORDER=PCI_BUS_ID
  std::string vendor;      // "NVIDIA", "AMD", "Intel"
  std::string model;       // "Tesla P100-SXM2-16GB", or "10de:15f9" if the name is unknown
  std::string pci_bus_id;  // "0002:01:00.0"
  std::string uuid;        // "GPU-..." if a driver reports it
  int numa_node = -1;      // logical; -1 if the nearest ancestor is larger than one NUMA node
  int package = -1;
  std::string locality;          // what its nearest ancestor is: "NUMA node 3 (L3 P#6)", "machine"
  std::vector<CoreIndex> cores;  // usable cores of the NUMA node, else of the package, else none

  bool operator==(const Gpu&) const = default;
};

struct Nic {
  std::string name;  // "eth0", "ib0", "mlx5_0", "hfi1_0"
  std::string kind;  // "ethernet", "infiniband", "omnipath", "wireless", "other"
  std::string pci_bus_id;
  std::string address;  // hardware address where known
  int numa_node = -1;

  bool operator==(const Nic&) const = default;
};

struct MachineTopology {
  std::string host_name;  // "" if the source lacks it
  std::string source;     // "this host", "ssh h2", "file minsky.xml", "synthetic pack:2 core:8", "assumed"
  bool assumed = false;   // made up from a default, not read anywhere: launch refuses it
  std::vector<Package> packages;
  std::vector<NumaNode> numa_nodes;
  std::vector<Core> cores;            // usable ones only, in logical order
  std::vector<PuIndex> unusable_pus;  // offline or not allowed here
  std::vector<Gpu> gpus;              // in PCI bus order
  std::vector<Nic> nics;

  int pu_count() const;
  // True where every package with cores has the same number of them: then S:C means the same to everybody.
  bool packages_are_equal() const;
  // Packages that have usable cores, in logical order.
  std::vector<const Package*> packages_with_cores() const;

  bool operator==(const MachineTopology&) const = default;
};

// S packages of K cores with `pus_per_core` threads, one NUMA node each, PUs numbered core by core.
MachineTopology regular_machine(int packages, int cores_per_package, int pus_per_core, std::string source);

}  // namespace ddlrun::topology
