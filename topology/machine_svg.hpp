// SPDX-License-Identifier: MIT
// A machine as an SVG picture: packages, NUMA nodes, cores, GPUs and NICs as boxes, ranks as
// colours.
#pragma once

#include "topology/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::topology {

// One rank to draw in. `gpu` is an index in MachineTopology::gpus, or -1.
struct DrawnRank {
  std::uint32_t rank = 0;
  std::vector<CoreIndex> cores;
  int gpu = -1;
};

std::string render_machine_svg(const MachineTopology& machine, const std::vector<DrawnRank>& ranks);

}  // namespace ddlrun::topology
