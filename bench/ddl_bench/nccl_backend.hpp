// SPDX-License-Identifier: MIT
// libddl's sums in GPU memory as a backend, where all ranks have a GPU and NCCL.
#pragma once

#include "bench/ddl_bench/backend.hpp"
#include "bench/ddl_bench/world.hpp"
#include "ddl/ddl.hpp"

#include <optional>
#include <string>

namespace ddlrun::ddl_bench {

struct NcclBackend {
  std::optional<Backend> backend;
  std::string what;  // "NCCL on cuda:0 (NVIDIA H200)"; without a backend: why not
};

// Collective.
NcclBackend connect_nccl(World& world, int local_rank, ddl::Options options, ddl::DataType type);

}  // namespace ddlrun::ddl_bench
