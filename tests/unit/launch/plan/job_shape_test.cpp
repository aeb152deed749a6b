// SPDX-License-Identifier: MIT
#include "launch/plan/job_shape.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using cli::LaunchOptions;

namespace {

LaunchOptions settled_hosts(const std::string& text, LaunchOptions options = {}) {
  options.hosts_option = text;
  cli::resolve_hosts(options);
  return options;
}

}  // namespace

TEST_SUITE_BEGIN("launch/plan/job_shape");

TEST_CASE("-H: names, equal counts, a count for each host") {
  struct Row {
    const char *text, *hosts, *accelerators;
    std::vector<std::uint32_t> host_ranks;
  };
  const Row rows[] = {{"h1,h2", "h1,h2", "", {}},
                      {"h1:4,h2:4", "h1,h2", "4", {}},
                      {"h1:4,h2:2", "h1,h2", "", {4, 2}},
                      {"n[1,3]:2", "n[1,3]", "2", {}},
                      {"n[1-3]:2,m:1", "n[1-3],m", "", {2, 2, 2, 1}}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const LaunchOptions options = settled_hosts(row.text);
    CHECK(options.hosts == row.hosts);
    CHECK(options.accelerators == row.accelerators);
    CHECK(options.host_ranks == row.host_ranks);
  }
}

TEST_CASE("-H: what is refused") {
  for (const char* text :
       {"h1:4,h2", "h1,h2:4", "h1:0,h2:4", "h1:x,h2:4", "h1:4,h2:", "h1:99999999999,h2:1"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(settled_hosts(text), Error);
  }
  LaunchOptions dims;
  dims.dims = "4x2x1";
  CHECK_NOTHROW(settled_hosts("h1:4,h2:4", dims));
  CHECK_THROWS_AS(settled_hosts("h1:4,h2:2", dims), Error);
  LaunchOptions factors;
  factors.accelerators = "2";
  CHECK_THROWS_AS(settled_hosts("h1:4,h2:4", factors), Error);
}

TEST_SUITE_END();
