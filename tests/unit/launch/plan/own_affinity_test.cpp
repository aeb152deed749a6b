// SPDX-License-Identifier: MIT
#include "launch/plan/own_affinity.hpp"

#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("launch/plan/own_affinity");

TEST_CASE("a mask of taskset that the plan leaves is remarked, of this host only") {
  tests::FakeSystem fake;
  tests::FakeHostInfo kernel;
  fake.environment.host_name = "here";
  System system = fake.interfaces();
  system.kernel = &kernel;
  std::vector<launch::PlannedRank> ranks(2);
  for (std::uint32_t rank : {0u, 1u}) ranks[rank] = {rank, rank, "here", "", {static_cast<int>(rank)}, 1};
  kernel.cpus = {1};  // taskset -c 1
  CHECK(launch::remark_on_own_affinity(system, ranks)
            .starts_with("this shell may use PUs 1 only (taskset), and the plan uses PUs 0-1: "));
  kernel.cpus = {0, 1};
  CHECK(launch::remark_on_own_affinity(system, ranks).empty());
  kernel.cpus = {1};
  ranks[0].host = "elsewhere";
  CHECK(launch::remark_on_own_affinity(system, ranks).empty());
  ranks[1].pus.clear();
  CHECK(launch::remark_on_own_affinity(system, ranks).empty());
}

TEST_SUITE_END();
