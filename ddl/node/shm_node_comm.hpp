// SPDX-License-Identifier: MIT
// The ranks of one host as processes that share memory by POSIX's names: nothing is left in /dev/shm,
// whenever one is killed.
#pragma once

#include "ddl/core/grid.hpp"
#include "ddl/node/node_comm.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

// One text from each rank of the job, by rank.
using GatherStrings = std::function<std::vector<std::string>(const std::string& mine)>;

// Collective over all ranks of the job. What allocates waits up to `timeout_seconds` for the others of the
// host.
std::unique_ptr<NodeComm> make_shm_node_comm(const GatherStrings& gather, const Grid& grid, int rank,
                                             double timeout_seconds);

}  // namespace ddl
