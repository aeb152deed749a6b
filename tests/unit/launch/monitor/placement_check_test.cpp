// SPDX-License-Identifier: MIT
#include "launch/monitor/placement_check.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::check_placement;
using launch::PlacementWatch;
using launch::PlaceReport;
using launch::PlaceVerdict;
using launch::PlannedRank;
using launch::render_placement_line;

namespace {

const PlannedRank planned{3, 1, "h2", "0:2-3", {2, 3}, 2};

}  // namespace

TEST_SUITE_BEGIN("launch/monitor/placement_check");

TEST_CASE("one rank judged") {
  struct Row {
    std::optional<PlaceReport> found;
    PlaceVerdict verdict;
    std::string why;
  };
  for (const Row& row :
       {Row{PlaceReport{3, 1, "h2", {2, 3}}, PlaceVerdict::ok, ""},
        Row{PlaceReport{3, std::nullopt, "h2", {2, 3}}, PlaceVerdict::ok, ""},
        Row{PlaceReport{3, 1, "h2.cluster", {2, 3}}, PlaceVerdict::ok, ""},
        Row{PlaceReport{3, 1, "minsky2", {2, 3}}, PlaceVerdict::ok, ""},
        Row{PlaceReport{3, 1, "h1", {2, 3}}, PlaceVerdict::differs, "planned on h2"},
        Row{PlaceReport{3, 0, "h2", {2, 3}}, PlaceVerdict::differs, "local rank 0, planned 1"},
        Row{PlaceReport{3, 1, "h2", {2}}, PlaceVerdict::differs, "1 of 2 planned PUs, 1 in all"},
        Row{PlaceReport{3, 1, "h2", {3, 4}}, PlaceVerdict::differs, "1 of 2 planned PUs, 2 in all"},
        Row{PlaceReport{3, 1, "h2", {0, 1, 2, 3}}, PlaceVerdict::differs, "2 of 2 planned PUs, 4 in all"},
        Row{PlaceReport{3, 1, "h2", {}}, PlaceVerdict::differs, "0 of 2 planned PUs, 0 in all"},
        Row{std::nullopt, PlaceVerdict::silent, "it never reported its place"}}) {
    CAPTURE(row.why);
    const auto judged = check_placement(planned, row.found, {"h1", "h2"});
    CHECK(judged.verdict == row.verdict);
    CHECK(judged.why == row.why);
  }
}

TEST_CASE("a watch takes the markers out of a stream and knows when all have reported") {
  PlacementWatch watch({{0, 0, "h1", "0:0", {0}, 1}, {1, 1, "h1", "0:1", {1}, 1}}, "T");
  CHECK(watch.take_line("hello\n") == "hello\n");
  CHECK(watch.take_line(render_placement_line("T", {1, 1, "h1", {0, 1}})).empty());
  CHECK(watch.take_line(render_placement_line("T", {1, 1, "h1", {0, 1}})).empty());
  CHECK(watch.take_line(render_placement_line("T", {7, 1, "h1", {0}})).empty());
  CHECK_FALSE(watch.complete());
  CHECK(launch::count_verdicts(watch.rows()).silent == 1);
  CHECK(watch.take_line(render_placement_line("T", {0, 0, "h1", {0}})).empty());
  CHECK(watch.complete());
  CHECK(launch::render_placement_table(watch.rows()) ==
        "  rank  host  slot  planned PUs  found PUs  verdict\n"
        "     0  h1    0:0   0            0          ok\n"
        "     1  h1    0:1   1            0-1        DIFFERS: 1 of 1 planned PUs, 2 in all\n"
        "  1 of 2 ranks are where they were planned\n");
}

TEST_CASE("a large table names what is wrong only") {
  std::vector<PlannedRank> ranks;
  for (std::uint32_t i = 0; i < 100; ++i) ranks.push_back({i, 0, "h", "0:0", {0}, 1});
  PlacementWatch watch(ranks, "T");
  for (std::uint32_t i = 0; i < 100; ++i) {
    if (i != 42) watch.take_line(render_placement_line("T", {i, 0, "h", {0}}));
  }
  CHECK(launch::render_placement_table(watch.rows(), 64) ==
        "  rank  host  slot  planned PUs  found PUs  verdict\n"
        "    42  h     0:0   0            -          SILENT: it never reported its place\n"
        "  99 of 100 ranks are not listed\n"
        "  99 of 100 ranks are where they were planned\n");
}

TEST_CASE("a plan and its rankfile mean the same ranks") {
  const auto machine = topology::regular_machine(2, 10, 8, "test");
  const auto plan = topology::plan_job(topology::parse_dims("4x2x1"), {"h1", "h2"}, {machine}, {0, 0}, {});
  const auto ranks = launch::planned_ranks(plan);
  REQUIRE(ranks.size() == 8);
  // The PowerAI DDL rankfile 4x2x1 with 10-core sockets: rank 6 is the last GPU of the first host, 1:5-9.
  CHECK(ranks[6].host == "h1");
  CHECK(ranks[6].slot == "1:5-9");
  CHECK(ranks[6].local_rank == 3);
  CHECK(ranks[6].cores == 5);
  CHECK(ranks[6].pus.front() == 120);
  CHECK(ranks[6].pus.back() == 159);
  std::vector<rankfile::RankLine> lines;
  for (const PlannedRank& rank : ranks) lines.insert(lines.begin(), {rank.rank, rank.host, rank.slot, 0});
  CHECK(launch::planned_ranks(lines, {"h1", "h2"}, {&machine, &machine}, 4) == ranks);
}

TEST_SUITE_END();
