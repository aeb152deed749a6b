// SPDX-License-Identifier: MIT
#include "ddl_bench/gloo_ways.hpp"

namespace ddlrun::ddl_bench {

GlooWay connect_gloo(World&, ddl::DataType, bool, const std::string&) {
  return {std::nullopt, "no Gloo: this build has none (Debian: apt-get install libgloo-dev)"};
}

}  // namespace ddlrun::ddl_bench
