// SPDX-License-Identifier: MIT
#include "launch/plan/unequal_hosts.hpp"

#include "base/text/error.hpp"
#include "topology/rankfile/rankfile_check.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ddlrun;
using topology::MachineTopology;

TEST_SUITE_BEGIN("launch/plan/unequal_hosts");

TEST_CASE("each host gets its number, numbered host by host, no core twice") {
  const MachineTopology machine = topology::regular_machine(2, 4, 2, "test");
  for (std::uint32_t first = 1; first <= 8; ++first) {
    for (std::uint32_t second = 1; second <= 8; ++second) {
      CAPTURE(first);
      CAPTURE(second);
      const auto uneven = launch::plan_uneven_ranks({{"a", first, &machine}, {"b", second, &machine}}, {});
      REQUIRE(uneven.rank_map.size() == first + second);
      CHECK(uneven.rank_map.kinds.size() == (first == second ? 1 : 2));
      std::set<std::pair<std::string, int>> taken;
      std::size_t pus = 0;
      for (std::uint32_t rank = 0; rank < first + second; ++rank) {
        const auto seated = launch::find_rank(uneven.rank_map, rank);
        REQUIRE(seated);
        CHECK(seated->host == (rank < first ? "a" : "b"));
        CHECK(seated->local_rank == (rank < first ? rank : rank - first));
        CHECK(seated->local_size == (rank < first ? first : second));
        pus += seated->binding->pus.size();
        for (const int pu : seated->binding->pus) taken.emplace(seated->host, pu);
      }
      CHECK(taken.size() == pus);
      rankfile::CheckContext context;
      context.ranks = first + second;
      context.machine_of = [&](std::string_view) { return &machine; };
      for (const auto& finding : rankfile::check_rankfile(uneven.rankfile, context))
        CHECK(finding.severity == rankfile::Severity::note);
    }
  }
}

TEST_CASE("a host that is too small is named by its numbers") {
  const MachineTopology machine = topology::regular_machine(1, 2, 1, "test");
  CHECK_THROWS_AS(launch::plan_uneven_ranks({{"a", 1, &machine}, {"b", 3, &machine}}, {}), Error);
}

TEST_SUITE_END();
