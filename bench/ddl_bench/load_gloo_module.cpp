// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/gloo_backend.hpp"
#include "ddl/core/own_plugin.hpp"
#include "ddl/error.hpp"

namespace ddlrun::ddl_bench {
namespace {

constexpr ddl::OwnPlugin plugin_of_gloo{"libddl_bench_gloo.so",
                                        "ddl-bench's plug-in for Gloo",
                                        "Gloo needs",
                                        "Debian: apt-get install libgloo-dev, then build ddl-bench again",
                                        "ddl_bench_gloo_build",
                                        DDL_BENCH_GLOO_BUILD,
                                        "ddl_bench_connect_gloo"};

}  // namespace

GlooBackend connect_gloo(World& world, ddl::DataType type, bool one_host, const std::string& interface) {
  ConnectGloo* connect = nullptr;
  std::string trouble;
  try {
    const std::string path = ddl::find_own_plugin(plugin_of_gloo);
    connect = reinterpret_cast<ConnectGloo*>(ddl::open_own_plugin(plugin_of_gloo, path));
  } catch (const ddl::Error& error) {
    trouble = error.what();
  }
  // The calls of Gloo are collective: no rank makes them if one lacks the plug-in.
  for (const std::string& one : world.gather(trouble))
    if (!one.empty()) return {std::nullopt, "no Gloo: " + one.substr(0, 160)};
  return connect(world, type, one_host, interface);
}

}  // namespace ddlrun::ddl_bench
