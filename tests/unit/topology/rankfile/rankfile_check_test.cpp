// SPDX-License-Identifier: MIT
// What the linter finds beyond the oracle's table: dims, allocation, Open MPI 5, forms of output.
#include "topology/rankfile/rankfile_check.hpp"

#include "base/text/text.hpp"
#include "tests/support/check_table.hpp"
#include "tests/support/machines.hpp"
#include "topology/hwloc_reader.hpp"
#include "topology/rankfile/rankfile_check_json.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::topology;
using namespace ddlrun::rankfile;

namespace {

std::string ids_and_lines(const std::vector<RankfileFinding>& findings) {
  std::vector<std::string> ids;
  for (const RankfileFinding& finding : findings) {
    if (finding.severity != Severity::note) ids.push_back(finding.id + "@" + std::to_string(finding.line));
  }
  std::sort(ids.begin(), ids.end());
  return join(ids, " ");
}

std::string sorted_words(std::string_view text) {
  std::vector<std::string> words;
  for (const auto word : split(text, ' ')) words.emplace_back(word);
  std::sort(words.begin(), words.end());
  return join(words, " ");
}

constexpr const char* two_hosts =
    "#dims = 2x2x1\n#host = a,b\n"
    "rank 0=a slot=0:0\nrank 2=a slot=0:1\nrank 1=b slot=0:0\nrank 3=b slot=0:1\n";

}  // namespace

TEST_SUITE_BEGIN("topology/rankfile/rankfile_check");

TEST_CASE("the table that is also held against Open MPI") {
  for (const tests::CheckRow& row : tests::check_rows()) {
    CAPTURE(row.name);
    const MachineTopology machine =
        row.machine == "uneven" ? tests::uneven_machine({2, 1, 2})
                                : HwlocMachine::from_synthetic(std::string(row.machine)).machine("test");
    CheckContext context;
    if (row.ranks > 0) context.ranks = static_cast<std::uint32_t>(row.ranks);
    context.machine_of = [&machine](std::string_view) { return &machine; };
    const auto findings = check_rankfile(row.text, context);
    CHECK(ids_and_lines(findings) == sorted_words(row.findings));
    for (const RankfileFinding& finding : findings) {
      CHECK(finding.what != "");
      CHECK(finding.hint != "");
    }
  }
}

TEST_CASE("dims, -n, hosts and the header must agree") {
  struct Row {
    std::optional<std::uint32_t> ranks;
    const char* dims;
    const char* findings;
  };
  const Row rows[] = {
      {std::nullopt, "2x2x1", ""},
      {4, "2x2x1", ""},
      {8, "2x2x1", "dims-and-n@0 missing-rank@6"},
      {std::nullopt, "2x1x2", "dims-and-header@1"},
      // the January 2018 post: 8 ranks, -mode b:4x1x1
      {4, "4x1x1", "dims-and-hosts@6 dims-and-header@1"},
      {4, "2x2x2", "dims-and-n@0 dims-and-ranks@6 dims-and-hosts@6 dims-and-header@1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.dims);
    CheckContext context;
    context.ranks = row.ranks;
    context.dims = parse_dims(row.dims);
    CHECK(ids_and_lines(check_rankfile(two_hosts, context)) == sorted_words(row.findings));
  }
}

TEST_CASE("a stale header") {
  const std::string text = std::string("#dims = 4x2x1\n#host = a,c\n") + (two_hosts + 26);
  CHECK(ids_and_lines(check_rankfile(text, {})) == "header-dims@1 header-hosts@2 header-hosts@5");
}

// Seen on two real hosts with two names each: "claimed that a host was either not allocated", Host: ib2.
TEST_CASE("names must be those of the allocation, cut at the first dot on both sides") {
  struct Row {
    std::vector<std::string> allocation;
    const char* findings;
  };
  const Row rows[] = {
      {{"a", "b"}, ""},
      {{"a.x.org", "b.x.org"}, ""},
      {{"a", "ib2"}, "not-in-allocation@5"},
      {{"A", "B"}, "not-in-allocation@3 not-in-allocation@5"},
      {{"10.1.1.1", "10.1.1.2"}, "not-in-allocation@3 not-in-allocation@5"},
  };
  for (const Row& row : rows) {
    CheckContext context;
    context.allocation = row.allocation;
    CHECK(ids_and_lines(check_rankfile(two_hosts, context)) == row.findings);
  }
  // Other names of the launching host are accepted, and not counted.
  CheckContext context;
  context.allocation = {"here"};
  context.aliases = {"a", "localhost", "10.0.0.1"};
  const auto findings = check_rankfile(two_hosts, context);
  CHECK(ids_and_lines(findings) == "not-in-allocation@5");
  CHECK(findings.at(0).what.find("(1 name, here first)") != std::string::npos);
}

TEST_CASE("Open MPI 5: overlap is an error, as is a missing slot") {
  CheckContext five;
  five.mpi_major = 5;
  const auto overlap = check_rankfile("rank 0=a slot=0:0-1\nrank 1=a slot=0:1\n", five);
  REQUIRE(overlap.size() == 1);
  CHECK(overlap[0].id == "overlap");
  CHECK(overlap[0].severity == Severity::error);
  const auto unbound = check_rankfile("rank 0=a\n", five);
  REQUIRE(unbound.size() == 1);
  CHECK(unbound[0].severity == Severity::error);  // 5.0.7 ends with status 213, without a message
}

// As mpirun 5.0.7 judged them, with each name as the host's own.
TEST_CASE("Open MPI 5: names") {
  CheckContext five;
  five.mpi_major = 5;
  five.allocation = {"a", "n_1", "1a", "rank", "12"};
  for (const char* name : {"+n0", "n_1", "n_1.x", "1a", "a.b", "u@a"}) {
    CAPTURE(name);
    CHECK_FALSE(has_errors(check_rankfile(fmt::format("rank 0={} slot=0:0\n", name), five)));
  }
  for (const char* name : {"rank", "1a.b.c", "12.x", "1.2.3", "a+b", "007"}) {
    CAPTURE(name);
    CHECK(has_errors(check_rankfile(fmt::format("rank 0={} slot=0:0\n", name), five)));
  }
  const auto four = check_rankfile("rank 0=n_1 slot=0:0\n", {});
  CHECK(four.at(0).id == "underscore-in-name");
}

TEST_CASE("each host may have a machine of its own") {
  const MachineTopology small = regular_machine(1, 2, 1, "small");
  const MachineTopology large = regular_machine(2, 8, 1, "large");
  CheckContext context;
  context.machine_of = [&](std::string_view host) { return host == "a" ? &small : &large; };
  CHECK(ids_and_lines(check_rankfile("rank 0=a slot=0:0-3\nrank 1=b slot=0:0-3\n", context)) ==
        "core-not-there@1");
}

TEST_CASE("findings are reported with place, remedy and the corrected line") {
  const auto findings = check_rankfile("rank 0=a   slot=0:0\nrank 1=a   slot=1:0,2 # x\n", {});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].column == 21);
  CHECK(findings[0].corrected == "rank 1=a   slot=1:0;1:2 # x");
  const std::string text = render_finding("job.rf", findings[0]);
  CHECK(text.starts_with("job.rf:2:21: error: rank 1: "));
  CHECK(text.find("\n  try: ") != std::string::npos);
  CHECK(text.ends_with("\n  fix: rank 1=a   slot=1:0;1:2 # x\n"));
  const std::string json = render_findings_json("job\xFF.rf", findings, false, 4);
  CHECK(json.find("\"schema\": \"ddlrun.check-rankfile/1\"") != std::string::npos);
  CHECK(json.find("\"errors\": 1") != std::string::npos);
}

TEST_CASE("a flood of one kind is cut, and said so") {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "rank " + std::to_string(i) + "=a slot=x\n";
  CheckContext context;
  context.limit_of_a_kind = 10;
  const auto findings = check_rankfile(text, context);
  REQUIRE(findings.size() == 11);
  CHECK(findings[10].what.starts_with("40 more"));
}

TEST_SUITE_END();
