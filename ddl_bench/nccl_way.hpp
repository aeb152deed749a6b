// SPDX-License-Identifier: MIT
// libddl's sums in GPU memory as a way, where all ranks have a GPU and NCCL.
#pragma once

#include "ddl/ddl.hpp"
#include "ddl_bench/way.hpp"
#include "ddl_bench/world.hpp"

#include <optional>
#include <string>

namespace ddlrun::ddl_bench {

struct NcclWay {
  std::optional<Way> way;
  std::string what;  // "NCCL on cuda:0 (NVIDIA H200)"; without a way: why not
};

// Collective.
NcclWay connect_nccl(World& world, int local_rank, ddl::Options options, ddl::DataType type);

}  // namespace ddlrun::ddl_bench
