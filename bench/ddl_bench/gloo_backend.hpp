// SPDX-License-Identifier: MIT
// Gloo's algorithms as a backend; a build without Gloo has none (gloo_none.cpp).
#pragma once

#include "bench/ddl_bench/backend.hpp"
#include "bench/ddl_bench/world.hpp"
#include "ddl/data_type.hpp"

#include <optional>
#include <string>

namespace ddlrun::ddl_bench {

struct GlooBackend {
  std::optional<Backend> backend;
  std::string what;  // "Gloo over TCP"; without a backend: why not
};

// Connects all ranks; collective. `one_host`: by the loopback; else by `interface`, or where it is empty by
// the address that the host's own name has.
GlooBackend connect_gloo(World& world, ddl::DataType type, bool one_host, const std::string& interface);

}  // namespace ddlrun::ddl_bench
