// SPDX-License-Identifier: MIT
// The rank map as `ddlrun exec` uses it: read from the variable or file, applied to this process.
#pragma once

#include "base/os/system.hpp"
#include "launch/rank/rank_identity.hpp"
#include "launch/rank/rank_map.hpp"
#include "launch/rank/rank_setup.hpp"

#include <optional>
#include <string>

namespace ddlrun::launch {

struct PreparedRank {
  Command program;
  std::optional<std::uint32_t> local_rank;
  std::optional<std::uint32_t> node;  // place of the host in the rank map
};

// Prepares this process for its rank: directory, variables, processors, memory, GPUs. The rank map is in
// `file`, or where that is "" in the variable DDLRUN_RANKS. Error{usage} without a rank map or a rank;
// Error{request} for what the host refuses.
PreparedRank prepare_rank(System& system, const std::string& file, const Command& program);

// What the driver of this host says of the GPU at a PCI bus id.
GpuFacts read_gpu(System& system, const std::string& pci);

// Processors, memory and directory of this process, as decided. Error{request} at `place` for what is
// refused.
void apply_rank_setup(const RankSetup& setup, const std::string& place);

}  // namespace ddlrun::launch
