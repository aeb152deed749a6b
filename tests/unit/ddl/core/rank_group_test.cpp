// SPDX-License-Identifier: MIT
// Which ranks a split puts together, in which order, and what the group is called.
#include "ddl/core/rank_group.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

TEST_SUITE_BEGIN("ddl/core/rank_group");

using ddl::RankGroup;
using ddl::SplitPlan;
using ddl::SplitRequest;

TEST_CASE("a split orders the ranks of a color by key, then by rank") {
  const std::vector<SplitRequest> requests{
      {1, 5, 16}, {0, 0, 16}, {1, -3, 22}, {std::nullopt, 0, 16}, {1, 5, 16}};
  CHECK(ddl::plan_split(requests, 0).members == std::vector<int>{2, 0, 4});
  CHECK(ddl::plan_split(requests, 4).members == std::vector<int>{2, 0, 4});
  CHECK(ddl::plan_split(requests, 1).members == std::vector<int>{1});
  CHECK(ddl::plan_split(requests, 3).members.empty());
  for (int rank = 0; rank < 5; ++rank) CHECK(ddl::plan_split(requests, rank).channel == 22);
  CHECK(ddl::plan_split(requests, 0).me == 1);
  CHECK(ddl::plan_split(requests, 2).me == 0);
}

TEST_CASE("a request is read back from its text; other texts are refused") {
  for (const SplitRequest& request : {SplitRequest{3, -7, 40}, SplitRequest{std::nullopt, 2, 0}}) {
    const auto read = ddl::parse_split_request(ddl::render_split_request(request));
    REQUIRE(read);
    CHECK(read->color == request.color);
    CHECK(read->key == request.key);
    CHECK(read->channel == request.channel);
  }
  CHECK(!ddl::parse_split_request("1 2"));
  CHECK(!ddl::parse_split_request(""));
}

TEST_CASE("a group has its ranks in the first Context, an id and a name of its own") {
  const RankGroup all;
  CHECK(all.suffix().empty());
  const RankGroup row = ddl::make_group(all, {{3, 4, 5}, 1, 0}, 7, "row");
  CHECK(row.name == "row 1");
  CHECK(row.suffix() == " in row 1");
  CHECK(row.ranks == std::vector<int>{3, 4, 5});
  const RankGroup part = ddl::make_group(row, {{2, 0}, 0, 0}, 1, "");
  CHECK(part.name == "group 0 of split #1 of row 1");
  CHECK(part.ranks == std::vector<int>{5, 3});
  const RankGroup other = ddl::make_group(all, {{0, 1, 2}, 0, 0}, 7, "");
  CHECK(other.name == "group 0 of split #7");
  const RankGroup later = ddl::make_group(all, {{3, 4, 5}, 1, 0}, 10, "row");
  CHECK(std::set<std::uint64_t>{0, row.id, part.id, other.id, later.id}.size() == 5);
}

TEST_SUITE_END();
