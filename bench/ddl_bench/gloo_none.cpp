// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/gloo_backend.hpp"

namespace ddlrun::ddl_bench {

GlooBackend connect_gloo(World&, ddl::DataType, bool, const std::string&) {
  return {std::nullopt, "no Gloo: this build has none (Debian: apt-get install libgloo-dev)"};
}

}  // namespace ddlrun::ddl_bench
