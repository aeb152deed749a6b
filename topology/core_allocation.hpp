// SPDX-License-Identifier: MIT
// How the cores of one machine are dealt to its ranks: by the locality of their GPUs, or by packages.
#pragma once

#include "topology/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::topology {

struct CoreBlock {
  std::vector<CoreIndex> cores;
  int gpu = -1;
  std::string reason;
};

struct CoreAllocation {
  std::vector<CoreBlock> ranks;      // by local rank
  std::vector<std::string> remarks;  // uneven shares, GPUs without locality, idle packages
};

// Local rank x has GPU x (PCI order) and whole cores of its NUMA node, else of its package. `cores_each` 0
// deals out all. Error{request} where a locality has fewer cores than GPUs.
CoreAllocation share_by_gpus(const MachineTopology& machine, std::uint32_t ranks, int cores_each);

// Ranks in turn over the packages, contiguous cores in each, as rank_gen.py does.
CoreAllocation share_by_packages(const MachineTopology& machine, std::uint32_t ranks, int cores_each);

}  // namespace ddlrun::topology
