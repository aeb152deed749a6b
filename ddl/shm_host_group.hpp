// SPDX-License-Identifier: MIT
// The ranks of one host as processes that share memory by POSIX's names: nothing is left in /dev/shm,
// whenever one is killed.
#pragma once

#include "ddl/host_group.hpp"
#include "ddl/levels.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

// One text from each rank of the job, by rank.
using GatherTexts = std::function<std::vector<std::string>(const std::string& mine)>;

// Collective over all ranks of the job. What allocates waits up to `timeout_seconds` for the others of the
// host.
std::unique_ptr<HostGroup> make_shm_host_group(const GatherTexts& gather, const Grid& grid, int rank,
                                               double timeout_seconds);

}  // namespace ddl
