// SPDX-License-Identifier: MIT
// The hosts that a scheduler has given to the job we are in.
#pragma once

#include "base/os/system.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::topology {

constexpr std::uint64_t max_hostfile_bytes = 64u << 20;

struct Allocation {
  std::vector<std::string> hosts;  // as the scheduler names them; Slurm may list one twice
  std::string source;              // SLURM_JOB_NODELIST or PBS_NODEFILE
  std::string hostfile;            // PBS's, or ""
};

// Nothing outside a job. Error{request} if PBS's file cannot be read.
std::optional<Allocation> find_allocation(System& system);

}  // namespace ddlrun::topology
