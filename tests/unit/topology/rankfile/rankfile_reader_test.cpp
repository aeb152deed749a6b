// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile_reader.hpp"

#include "base/text/text.hpp"
#include "topology/rankfile/rankfile_entry.hpp"
#include "topology/rankfile/rankfile_names.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::topology;
using namespace ddlrun::rankfile;

TEST_SUITE_BEGIN("topology/rankfile/rankfile_reader");

TEST_CASE("comments are cut out as Open MPI's scanner does") {
  struct Row {
    const char* text;
    const char* pieces;  // all lines' pieces, joined by '|'
    const char* comment;
  };
  const Row rows[] = {
      {"a # b", "a ", "# b"},
      {"a // b", "a ", "// b"},
      {"a / b", "a / b", ""},
      {"a /* b */ c", "a | c", ""},
      {"a /* b\nc */ d", "a | d", ""},
      {"# /* a\nb", "b", "# /* a"},
      {"/* # */ a # b", " a ", "# b"},
      {"//* a */ b", "", "//* a */ b"},
      {"\"a # b\" c", "\"a # b\" c", ""},
      {"/**/a", "a", ""},
      {"a\r\nb\r", "a|b", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    std::vector<std::string> pieces;
    std::string comment;
    LineReader reader(row.text);
    while (const auto line = reader.next()) {
      for (const auto piece : line->pieces) pieces.emplace_back(piece);
      comment += line->comment;
    }
    CHECK(join(pieces, "|") == row.pieces);
    CHECK(comment == row.comment);
  }
  LineReader open("x\ny /* z\n");
  while (open.next()) continue;
  CHECK(open.open_comment() == 2);
}

TEST_CASE("the header of gen-rankfile and rank_gen") {
  FileHeader header;
  header.add_comment("#by ddlrun 0.1.0 gen-rankfile", 1);
  header.add_comment("#dims = 4x2x3", 2);
  header.add_comment("#host = n[1-6]", 3);
  header.add_comment("#dimX = 4", 4);
  header.add_comment("#topology = file x.xml", 5);
  REQUIRE(header.dims);
  CHECK(render_dims(*header.dims) == "4x2x3");
  CHECK(header.dims_line == 2);
  CHECK(header.hosts.size() == 6);
  CHECK_FALSE(header.assumed_topology);
  header.add_comment("#topology = assumed 2x10, not probed", 6);
  CHECK(header.assumed_topology);
  CHECK(header.topology_line == 6);
  FileHeader odd;
  odd.add_comment("#dims = a lot", 1);
  odd.add_comment("#host = node[", 2);
  odd.add_comment("// dims = 4x1", 3);
  CHECK_FALSE(odd.dims);
  CHECK(odd.hosts.empty());
}

TEST_CASE("rank lines for programs") {
  const auto lines = parse_rank_lines("# x\nrank 0=a slot=0:0\nnonsense\n\nrank 3=b.x slot=1:0-2\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].rank == 3);
  CHECK(lines[1].host == "b.x");
  CHECK(lines[1].slots == "1:0-2");
  CHECK(lines[1].line == 5);
}

TEST_CASE("an entry's parts survive slips that leave no doubt") {
  const RankEntry entry = read_entry("RANK 7=\"h1\"\xC2\xA0slots = 0:0; 1:0");
  REQUIRE(entry.complete());
  CHECK(*entry.rank == 7);
  CHECK(entry.host == "h1");
  CHECK(entry.slots == "0:0;1:0");
  CHECK(entry.problems.size() == 5);
  for (const EntryProblem& problem : entry.problems) CHECK(problem.mendable);
}

TEST_CASE("a blank between two numbers is not for us to close") {
  const RankEntry entry = read_entry("rank 7=h1 slot=0:0 1:0");
  REQUIRE(entry.problems.size() == 1);
  CHECK(entry.problems[0].id == "text-after-slots");
  CHECK_FALSE(entry.problems[0].mendable);
}

// Seen with Open MPI 4.1.4: the names in "Data for node:".
TEST_CASE("names as Open MPI compares them") {
  CHECK(folded_name("a.x.org") == "a");
  CHECK(folded_name("10.1.1.2") == "10.1.1.2");
  CHECK(folded_name("710.0.0.1") == "710");
  CHECK(folded_name("10.08.0.1") == "10");
  CHECK(folded_name("007") == "7");
  CHECK(folded_name("000") == "0");
  CHECK(folded_name("joe@a.x") == "a");
}

TEST_SUITE_END();
