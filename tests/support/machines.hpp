// SPDX-License-Identifier: MIT
// Machines for tests, built by hand from what is known of real ones.
#pragma once

#include "topology/machine.hpp"

#include <string>

namespace ddlrun::tests {

inline topology::Gpu make_gpu(int index, const topology::MachineTopology& machine, int numa_node) {
  topology::Gpu gpu;
  gpu.index = index;
  gpu.vendor = "NVIDIA";
  gpu.model = "test GPU";
  gpu.pci_bus_id = "0000:0" + std::to_string(index) + ":00.0";
  gpu.numa_node = numa_node;
  gpu.locality = numa_node >= 0 ? "NUMA node " + std::to_string(numa_node) : "machine";
  if (numa_node >= 0) gpu.cores = machine.numa_nodes[static_cast<std::size_t>(numa_node)].cores;
  return gpu;
}

// GPUs on the given NUMA nodes (-1: the whole machine), in PCI order.
inline topology::MachineTopology with_gpus(topology::MachineTopology machine,
                                           const std::vector<int>& numa_nodes) {
  for (const int node : numa_nodes) {
    machine.gpus.push_back(make_gpu(static_cast<int>(machine.gpus.size()), machine, node));
  }
  return machine;
}

// Packages of different core counts, one thread a core: {2, 1, 1, 2}.
inline topology::MachineTopology uneven_machine(const std::vector<int>& cores) {
  topology::MachineTopology machine;
  machine.source = "uneven";
  for (std::size_t p = 0; p < cores.size(); ++p) {
    const int package = static_cast<int>(p);
    machine.packages.push_back({package, package, "", cores[p]});
    topology::NumaNode numa{package, package, 0, false, {}};
    for (int c = 0; c < cores[p]; ++c) {
      const int logical = static_cast<int>(machine.cores.size());
      numa.cores.push_back({logical});
      machine.cores.push_back({{logical}, package, c, package, {{logical}}});
    }
    machine.numa_nodes.push_back(numa);
  }
  return machine;
}

}  // namespace ddlrun::tests
