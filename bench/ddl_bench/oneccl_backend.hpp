// SPDX-License-Identifier: MIT
// oneCCL, Intel's collectives and the heir of MLSL, as a backend: by its C interface, loaded when asked for.
#pragma once

#include "bench/ddl_bench/backend.hpp"
#include "bench/ddl_bench/world.hpp"
#include "ddl/data_type.hpp"

#include <optional>
#include <string>

namespace ddlrun::ddl_bench {

struct OneCclBackend {
  std::optional<Backend> backend;
  std::string what;  // "oneCCL 2022.1.2"; without a backend: why not
};

// Connects all ranks; collective. MPI is that of oneCCL (Intel MPI), started with MPI_THREAD_MULTIPLE: its
// workers call MPI.
OneCclBackend connect_oneccl(World& world, ddl::DataType type);

}  // namespace ddlrun::ddl_bench
