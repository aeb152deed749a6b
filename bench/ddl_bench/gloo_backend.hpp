// SPDX-License-Identifier: MIT
// Gloo's algorithms as a backend, in a plug-in: Debian 13's libgloo is linked with Open MPI, which must not be in a
// process that another MPI starts.
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

// The same, exported by the plug-in as ddl_bench_connect_gloo; ddl_bench_gloo_build() must be the text that ddl-bench
// has too.
using ConnectGloo = GlooBackend(World&, ddl::DataType, bool, const std::string&);

}  // namespace ddlrun::ddl_bench

#define DDL_BENCH_GLOO_BUILD DDLRUN_VERSION " (" __VERSION__ ", ddl-bench's Gloo interface 1)"
