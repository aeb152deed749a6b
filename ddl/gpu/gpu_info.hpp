// SPDX-License-Identifier: MIT
// What each rank sends about its GPU before all connect, as text; and the rank that prevents connecting.
// Pure.
#pragma once

#include "ddl/core/grid.hpp"
#include "ddl/error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddl {

struct GpuInfo {
  std::string obstacle, where, hint;  // why this rank cannot take part; empty: it can
  std::string uuid, name;             // which GPU of its host, and what it is
  std::string nccl_host;              // NCCL_HOSTID: NCCL takes other values for other hosts (since 2.4.7)
  std::vector<std::string> ids;       // of the planned groups, "-" for those of which it is not the first
};

std::string render_gpu_info(const GpuInfo& info);
GpuInfo parse_gpu_info(const std::string& text);

// By rank. The first that cannot take part, or shares a GPU: the same Error on all ranks.
std::optional<Error> find_gpu_obstacle(const std::vector<GpuInfo>& info, const Grid& grid);

}  // namespace ddl
