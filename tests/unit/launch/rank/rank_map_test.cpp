// SPDX-License-Identifier: MIT
#include "launch/rank/rank_map.hpp"

#include "base/text/error.hpp"
#include "launch/rank/planned_rank.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ddlrun;
using launch::expand_placeholders;
using launch::find_rank;
using launch::make_rank_map;
using launch::parse_rank_map;
using launch::RankGroup;
using launch::RankMap;
using launch::render_rank_map;

namespace {

topology::Plan sheet_plan(const std::string& dims, std::vector<std::string> hosts) {
  const auto machine = topology::regular_machine(2, 10, 8, "test");
  const std::vector<std::uint32_t> machine_of_host(hosts.size(), 0);
  return topology::plan_job(topology::parse_dims(dims), std::move(hosts), {machine}, machine_of_host, {});
}

}  // namespace

TEST_SUITE_BEGIN("launch/rank/rank_map");

TEST_CASE("the order of the ranks over hosts") {
  using launch::HostOrder;
  const auto order = [](std::vector<std::string> hosts) {
    std::vector<launch::PlannedRank> ranks;
    for (const std::string& host : hosts)
      ranks.push_back({static_cast<std::uint32_t>(ranks.size()), 0, host, "", {}, 1});
    return launch::host_order(ranks);
  };
  CHECK(order({"a", "b", "a", "b"}) == HostOrder::round_robin);
  CHECK(order({"a", "b", "c", "a", "b", "c"}) == HostOrder::round_robin);
  CHECK(order({"a", "a", "b", "b"}) == HostOrder::host_by_host);
  CHECK(order({"a", "a", "b"}) == HostOrder::one_each);  // one host with several
  CHECK(order({"a", "b", "c"}) == HostOrder::one_each);
  CHECK(order({"a", "a"}) == HostOrder::one_each);
  CHECK(order({"a", "b", "b", "a"}) == HostOrder::other);
}

TEST_CASE("a rank map knows each rank as the post's 4x2x3 rankfile does") {
  const RankMap rank_map = make_rank_map(sheet_plan("4x2x3", {"h0", "h1", "h2", "h3", "h4", "h5"}));
  struct Row {
    std::uint32_t rank;
    std::string host;
    std::uint32_t local_rank, node;
    int first_pu;
  };
  const std::vector<Row> rows{{0, "h0", 0, 0, 0},   {6, "h0", 1, 0, 40},  {18, "h0", 3, 0, 120},
                              {3, "h1", 0, 1, 0},   {13, "h2", 2, 2, 80}, {5, "h5", 0, 5, 0},
                              {23, "h5", 3, 5, 120}};
  for (const Row& row : rows) {
    CAPTURE(row.rank);
    const auto rank = find_rank(rank_map, row.rank);
    REQUIRE(rank);
    CHECK(rank->host == row.host);
    CHECK(rank->local_rank == row.local_rank);
    CHECK(rank->local_size == 4);
    CHECK(rank->node == row.node);
    CHECK(rank->nodes == 6);
    CHECK(rank->size == 24);
    REQUIRE(rank->binding != nullptr);
    CHECK(rank->binding->pus.size() == 40);
    CHECK(rank->binding->pus.front() == row.first_pu);
  }
  CHECK(!find_rank(rank_map, 24));
}

TEST_CASE("known words are filled in, everything else stays") {
  RankMap rank_map = make_rank_map(sheet_plan("2x2x1", {"h1", "h2"}));
  RankGroup ps, workers;
  ps.ranks = 1;
  ps.name = "ps";
  workers.first = 1;
  workers.ranks = 3;
  rank_map.groups = {ps, workers};
  const auto rank = find_rank(rank_map, 3);
  REQUIRE(rank);
  struct Row {
    std::string text, filled;
  };
  const std::vector<Row> rows{
      {"{rank}/{size}", "3/4"},
      {"{local_rank}/{local_size} on {host}", "1/2 on h2"},
      {"{node}/{nodes}", "1/2"},
      {"--task_index={group_rank}", "--task_index=2"},
      {"{group_size}", "3"},
      {"[{gpu}]", "[]"},
      {R"({"task":{"type":"worker","index":{group_rank}}})", R"({"task":{"type":"worker","index":2}})"},
      {"{ rank} {Rank} {rank", "{ rank} {Rank} {rank"},
      {"{{rank}}", "{3}"}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(expand_placeholders(row.text, *rank) == row.filled);
  }
}

TEST_CASE("what is written is read back, with the order of the hosts") {
  RankMap rank_map = make_rank_map(sheet_plan("2x2x2", {"h4", "login", "h2", "h3"}));
  rank_map.bind = rank_map.unbind = true;
  rank_map.memory = launch::MemoryPolicy::preferred;
  rank_map.gpu_view = launch::GpuView::host;
  rank_map.workdir = "/home/a b/\"c\"";
  rank_map.kinds[0][1].gpu = 1;
  rank_map.kinds[0][1].gpu_pci = "0002:01:00.0";
  rank_map.kinds[0][1].nic = "mlx5_0";
  RankGroup group = rank_map.groups[0];
  group.name = "worker";
  group.program = {"./a program", "{rank}", "\n:"};
  group.arguments = {"--task_index={group_rank}"};
  group.variables = {{"RANK", "{rank}", ""}, {"TF_CONFIG", R"({"a":{"b":["x:1"]}})", ""}};
  group.is_service = true;
  rank_map.groups[0] = group;
  const std::string text = render_rank_map(rank_map);
  CHECK(text.find('\n') == std::string::npos);
  CHECK(parse_rank_map(text) == rank_map);
}

TEST_CASE("a rank map of 4,096 hosts fits in an environment variable of 128 KiB") {
  std::vector<std::string> hosts;
  for (int i = 0; i < 4096; ++i) hosts.push_back("gpu" + std::to_string(10000 + i));
  const std::string text = render_rank_map(make_rank_map(sheet_plan("8x64x64", hosts)));
  CHECK(text.size() < 128 * 1024);
  CHECK(parse_rank_map(text) == make_rank_map(sheet_plan("8x64x64", hosts)));
}

TEST_CASE("a rank map that is not ours is refused with its place") {
  struct Row {
    std::string text, part;
  };
  const std::string good = render_rank_map(make_rank_map(sheet_plan("2", {"h1"})));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const std::vector<Row> rows{{"", "no JSON"},
                              {"[]", "an object"},
                              {with("ranks/1", "ranks/2"), "schema"},
                              {with("\"kinds\"", "\"kindz\""), "a list is wanted"},
                              {with("[\"0,1\"]", "[\"1,0\"]"), "do not ascend"},
                              {with("[\"0,1\"]", "[\"0-9\"]"), "without its step"},
                              {with("[\"0,1\"]", "[\"0-9/0\"]"), "does not ascend"},
                              {with("[\"0,1\"]", "[\"0,x\"]"), "'x' is no rank"},
                              {with("[0]", "[7]"), "kind 7 of 1"},
                              {with("\"h1\"", "\"h1,h2\""), "2 hosts, 1 kinds"},
                              {with("\"first\":0", "\"first\":0.5"), "a number is wanted"},
                              {with("\"first\":0", "\"first\":4294967296"), "a number is wanted"},
                              {with("\"pus\"", "\"puss\""), "unknown 'puss'"}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    std::string what;
    try {
      parse_rank_map(row.text);
    } catch (const Error& error) {
      what = error.message().what;
    }
    CHECK(what.find(row.part) != std::string::npos);
  }
}

TEST_SUITE_END();
