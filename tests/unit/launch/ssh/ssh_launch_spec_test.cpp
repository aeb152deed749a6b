// SPDX-License-Identifier: MIT
#include "launch/ssh/ssh_launch_spec.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace ddlrun;
using launch::parse_ssh_host_spec;
using launch::parse_ssh_launch_spec;
using launch::render_ssh_host_spec;
using launch::render_ssh_launch_spec;
using launch::SshHostSpec;
using launch::SshLaunchSpec;

namespace {

launch::RankMap start_sheet() {
  launch::RankMap rank_map;
  launch::RankBinding left, right;
  left.pus = {0, 1};
  right.pus = {2, 3};
  rank_map.kinds = {{left, right}};
  rank_map.hosts = {{"h1", 0, {0, 2}}, {"h2", 0, {1, 3}}};
  launch::RankGroup workers, servers;
  workers.name = "worker";
  workers.ranks = 3;
  workers.variables = {{"RANK", "{rank}", ""}};
  servers.name = "ps";
  servers.first = 3;
  servers.ranks = 1;
  servers.is_service = true;
  servers.arguments = {"--job=ps"};
  rank_map.groups = {workers, servers};
  rank_map.workdir = "/home/ddl";
  rank_map.bind = true;
  return rank_map;
}

SshLaunchSpec full_start() {
  SshLaunchSpec start;
  start.rank_map = start_sheet();
  start.program.program = {"./prog", "two words", "", "\xc3\xa9", "\xff\xfe", "a\nb\"'\\"};
  start.program.placement_token = "abc";
  start.program.keep = true;
  start.program.status_token = "def";
  start.program.stall_after = 60;
  start.exported = {"PATH", "SECRET"};
  start.addresses = {{"h2", "10.0.0.2"}};
  start.ssh = "/usr/bin/ssh";
  start.ssh_arguments = {"-p", "2222"};
  start.grace_ms = 5000;
  return start;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_SUITE_BEGIN("launch/ssh/ssh_launch_spec");

TEST_CASE("a start document comes back as it was") {
  const SshLaunchSpec start = full_start();
  const SshLaunchSpec back = parse_ssh_launch_spec(render_ssh_launch_spec(start));
  CHECK(back.rank_map == start.rank_map);
  CHECK(back.program.program == start.program.program);
  CHECK(back.program.placement_token == "abc");
  CHECK(back.program.keep);
  CHECK(back.program.status_token == "def");
  CHECK(back.program.stall_after == 60);
  CHECK(back.exported == start.exported);
  CHECK(back.addresses == start.addresses);
  CHECK(back.ssh == start.ssh);
  CHECK(back.ssh_arguments == start.ssh_arguments);
  CHECK(back.grace_ms == 5000);
  CHECK(render_ssh_launch_spec(back) == render_ssh_launch_spec(start));
}

TEST_CASE("a host is reported values of any bytes but NUL") {
  SshHostSpec host;
  host.rank_map = start_sheet();
  host.program.program = {"true"};
  host.grace_ms = 0;
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  host.values = {{"A", "two\nlines"}, {"B", "'\"\\$(x)"}, {"C", "gr\xc3\xbc\xc3\x9f"}, {"D", all}, {"E", ""}};
  const SshHostSpec back = parse_ssh_host_spec(render_ssh_host_spec(host));
  CHECK(back.values == host.values);
  CHECK(back.grace_ms == 0);
  CHECK(back.rank_map == host.rank_map);
}

TEST_CASE("what cannot be started is refused with its place") {
  struct Row {
    std::string from, to, says;
  };
  const std::string good = render_ssh_launch_spec(full_start());
  for (const Row& row :
       {Row{"ddlrun.start/1", "ddlrun.start/2", "schema"},
        Row{"\"exported\"", "\"exprted\"", "unknown 'exprted'"}, Row{"\"PATH\"", "\"PA=TH\"", "no variable"},
        Row{"\"grace_ms\": 5000", "\"grace_ms\": -1", "a number from 0"},
        Row{"\"grace_ms\": 5000", "\"grace_ms\": 18446744073709551615", "a number from 0"},
        Row{"\"grace_ms\": 5000", "\"grace_ms\": \"5\"", "a number from 0"},
        Row{"\"keep\": true", "\"keep\": 1", "true or false"},
        Row{"10.0.0.2", "-oProxyCommand=x", "no address"},
        Row{"\"fffe\"", "\"ffe\"", "odd number of hex digits"}, Row{"\"fffe\"", "\"00\"", "NUL"},
        Row{"\"fffe\"", "\"zz\"", "no hex"}, Row{"\"./prog\"", "\"\"", "has no program"},
        Row{"\"h[1-2]\"", "\"h1,-h\"", "not a host name"}, Row{"\"0,2\"", "\"0\"", "not one place"}}) {
    CAPTURE(row.to);
    try {
      parse_ssh_launch_spec(replaced(good, row.from, row.to));
      FAIL_CHECK("it was taken");
    } catch (const Error& error) {
      CHECK_MESSAGE(error.message().what.find(row.says) != std::string::npos, error.message().what);
      CHECK(error.kind() != ErrorKind::internal);
    }
  }
  CHECK_THROWS_AS(parse_ssh_launch_spec(""), Error);
  CHECK_THROWS_AS(parse_ssh_launch_spec("[]"), Error);
  const std::string deep = R"({"schema":"ddlrun.start/1","rank_map":)" + std::string(200000, '[');
  CHECK_THROWS_AS(parse_ssh_launch_spec(deep), Error);
  CHECK_THROWS_AS(parse_ssh_launch_spec(deep + std::string(200000, ']') + "}"), Error);
}

TEST_CASE("ranks need one place and one group each") {
  struct Row {
    std::vector<std::uint32_t> of_h2;
    std::uint32_t first, ranks;  // of the second group
  };
  for (const Row& row : {Row{{1, 2}, 3, 1}, Row{{1, 4}, 3, 1}, Row{{1, 3}, 3, 2}, Row{{1, 3}, 2, 1},
                         Row{{1, 3}, 3, 0}, Row{{1}, 3, 1}, Row{{1, 3, 4}, 3, 1}}) {
    SshLaunchSpec start = full_start();
    start.rank_map.hosts[1].ranks = row.of_h2;
    start.rank_map.groups[1].first = row.first;
    start.rank_map.groups[1].ranks = row.ranks;
    CAPTURE(row.first);
    CHECK_THROWS_AS(parse_ssh_launch_spec(render_ssh_launch_spec(start)), Error);
  }
}

TEST_CASE("mutated documents are refused or taken, never more") {
  const std::string good = render_ssh_launch_spec(full_start());
  std::mt19937 random(11);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) {
      const std::size_t at = random() % bad.size();
      if (random() % 3 == 0)
        bad.erase(at, 1 + random() % 5);
      else
        bad[at] = static_cast<char>(random() % 256);
    }
    try {
      parse_ssh_launch_spec(bad);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 1500);
}

TEST_SUITE_END();
