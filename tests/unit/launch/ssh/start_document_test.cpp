// SPDX-License-Identifier: MIT
#include "launch/ssh/start_document.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace ddlrun;
using launch::HostDocument;
using launch::parse_host_document;
using launch::parse_start_document;
using launch::render_host_document;
using launch::render_start_document;
using launch::StartDocument;

namespace {

launch::RankSheet start_sheet() {
  launch::RankSheet sheet;
  launch::Seat left, right;
  left.pus = {0, 1};
  right.pus = {2, 3};
  sheet.kinds = {{left, right}};
  sheet.hosts = {{"h1", 0, {0, 2}}, {"h2", 0, {1, 3}}};
  launch::RankGroup workers, servers;
  workers.name = "worker";
  workers.ranks = 3;
  workers.variables = {{"RANK", "{rank}", ""}};
  servers.name = "ps";
  servers.first = 3;
  servers.ranks = 1;
  servers.serves = true;
  servers.arguments = {"--job=ps"};
  sheet.groups = {workers, servers};
  sheet.working_folder = "/home/ddl";
  sheet.bind = true;
  return sheet;
}

StartDocument full_start() {
  StartDocument start;
  start.sheet = start_sheet();
  start.program.program = {"./prog", "two words", "", "\xc3\xa9", "\xff\xfe", "a\nb\"'\\"};
  start.program.report_token = "abc";
  start.program.keep = true;
  start.program.watch_token = "def";
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

TEST_SUITE_BEGIN("launch/ssh/start_document");

TEST_CASE("a start document comes back as it was") {
  const StartDocument start = full_start();
  const StartDocument back = parse_start_document(render_start_document(start));
  CHECK(back.sheet == start.sheet);
  CHECK(back.program.program == start.program.program);
  CHECK(back.program.report_token == "abc");
  CHECK(back.program.keep);
  CHECK(back.program.watch_token == "def");
  CHECK(back.program.stall_after == 60);
  CHECK(back.exported == start.exported);
  CHECK(back.addresses == start.addresses);
  CHECK(back.ssh == start.ssh);
  CHECK(back.ssh_arguments == start.ssh_arguments);
  CHECK(back.grace_ms == 5000);
  CHECK(render_start_document(back) == render_start_document(start));
}

TEST_CASE("a host is told values of any bytes but NUL") {
  HostDocument host;
  host.sheet = start_sheet();
  host.program.program = {"true"};
  host.grace_ms = 0;
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  host.values = {{"A", "two\nlines"}, {"B", "'\"\\$(x)"}, {"C", "gr\xc3\xbc\xc3\x9f"}, {"D", all}, {"E", ""}};
  const HostDocument back = parse_host_document(render_host_document(host));
  CHECK(back.values == host.values);
  CHECK(back.grace_ms == 0);
  CHECK(back.sheet == host.sheet);
}

TEST_CASE("what cannot be started is refused with its place") {
  struct Row {
    std::string from, to, says;
  };
  const std::string good = render_start_document(full_start());
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
      parse_start_document(replaced(good, row.from, row.to));
      FAIL_CHECK("it was taken");
    } catch (const Error& error) {
      CHECK_MESSAGE(error.message().what.find(row.says) != std::string::npos, error.message().what);
      CHECK(error.kind() != ErrorKind::internal);
    }
  }
  CHECK_THROWS_AS(parse_start_document(""), Error);
  CHECK_THROWS_AS(parse_start_document("[]"), Error);
}

TEST_CASE("ranks need one place and one group each") {
  struct Row {
    std::vector<std::uint32_t> of_h2;
    std::uint32_t first, ranks;  // of the second group
  };
  for (const Row& row : {Row{{1, 2}, 3, 1}, Row{{1, 4}, 3, 1}, Row{{1, 3}, 3, 2}, Row{{1, 3}, 2, 1},
                         Row{{1, 3}, 3, 0}, Row{{1}, 3, 1}, Row{{1, 3, 4}, 3, 1}}) {
    StartDocument start = full_start();
    start.sheet.hosts[1].ranks = row.of_h2;
    start.sheet.groups[1].first = row.first;
    start.sheet.groups[1].ranks = row.ranks;
    CAPTURE(row.first);
    CHECK_THROWS_AS(parse_start_document(render_start_document(start)), Error);
  }
}

TEST_CASE("mutated documents are refused or taken, never more") {
  const std::string good = render_start_document(full_start());
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
      parse_start_document(bad);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 1500);
}

TEST_SUITE_END();
