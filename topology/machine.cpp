// SPDX-License-Identifier: MIT
#include "topology/machine.hpp"

#include <utility>

namespace ddlrun::topology {

int MachineTopology::pu_count() const {
  int count = 0;
  for (const Core& core : cores) count += static_cast<int>(core.pus.size());
  return count;
}

bool MachineTopology::packages_are_equal() const {
  int seen = 0;
  for (const Package& package : packages) {
    if (seen != 0 && package.core_count != seen) return false;
    seen = package.core_count;
    if (seen == 0) return false;
  }
  return seen != 0;
}

std::vector<const Package*> MachineTopology::packages_with_cores() const {
  std::vector<const Package*> result;
  for (const Package& package : packages) {
    if (package.core_count > 0) result.push_back(&package);
  }
  return result;
}

MachineTopology regular_machine(int packages, int cores_per_package, int pus_per_core, std::string source) {
  MachineTopology machine;
  machine.source = std::move(source);
  for (int p = 0; p < packages; ++p) {
    machine.packages.push_back({p, p, "", cores_per_package});
    NumaNode numa{p, p, 0, false, {}};
    for (int c = 0; c < cores_per_package; ++c) {
      Core core{{p * cores_per_package + c}, p, c, p, {}};
      for (int t = 0; t < pus_per_core; ++t) core.pus.push_back({core.index.logical * pus_per_core + t});
      numa.cores.push_back(core.index);
      machine.cores.push_back(std::move(core));
    }
    machine.numa_nodes.push_back(std::move(numa));
  }
  return machine;
}

}  // namespace ddlrun::topology
