// SPDX-License-Identifier: MIT
#include "launch/plan/program_list.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ddlrun;
using launch::parse_program_list;
using launch::RankGroup;
using launch::RankMap;

namespace {

// 2x2x1 in DDL order: h1 has ranks 0 and 2, h2 has 1 and 3.
RankMap list_sheet() {
  const auto machine = topology::regular_machine(1, 4, 1, "test");
  return launch::make_rank_map(
      topology::plan_job(topology::parse_dims("2x2x1"), {"h1", "h2"}, {machine}, {0, 0}, {}));
}

std::string shape(const std::vector<RankGroup>& groups) {
  std::string text;
  for (const RankGroup& group : groups) {
    text += group.name + " " + std::to_string(group.first) + "+" + std::to_string(group.ranks) + " " +
            group.program[0] + (group.is_service ? " serves" : "") + "; ";
  }
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("launch/plan/program_list");

TEST_CASE("programs by ranks and by hosts") {
  struct Row {
    const char* what;
    std::string text, groups;
  };
  const std::vector<Row> rows{
      {"ranges", "- {ranks: 0, name: ps, program: ./s, serves: true}\n- {ranks: 1-3, program: [./w, a b]}\n",
       "ps 0+1 ./s serves;  1+3 ./w; "},
      {"hosts are interleaved in DDL order", "- {hosts: h1, program: ./a}\n- {hosts: h2, program: ./b}\n",
       " 0+1 ./a;  1+1 ./b;  2+1 ./a;  3+1 ./b; "},
      {"both", "- {hosts: h2, program: ./b}\n- {ranks: '0,2', program: ./a}\n",
       " 0+1 ./a;  1+1 ./b;  2+1 ./a;  3+1 ./b; "}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(shape(parse_program_list(row.text, "p.yaml", list_sheet())) == row.groups);
  }
  const auto set =
      parse_program_list("- {ranks: 0-3, program: ./a, set: {MODE: 'r{rank}'}}\n", "p", list_sheet());
  REQUIRE(set[0].variables.size() == 1);
  CHECK(set[0].variables[0].value == "r{rank}");
}

TEST_CASE("every name of this machine means its host, where the job has it") {
  const auto is_here = [](const std::string& host) { return host == "localhost" || host == "h2"; };
  const std::string text = "- {hosts: h1, program: ./a}\n- {hosts: localhost, program: ./b}\n";
  CHECK(shape(parse_program_list(text, "p", list_sheet(), is_here)) ==
        " 0+1 ./a;  1+1 ./b;  2+1 ./a;  3+1 ./b; ");
  CHECK_THROWS_AS(parse_program_list(text, "p", list_sheet()), Error);
  const auto elsewhere = [](const std::string& host) { return host == "localhost"; };
  CHECK_THROWS_AS(parse_program_list(text, "p", list_sheet(), elsewhere), Error);
}

TEST_CASE("a list that leaves a rank without, or gives it two, is refused at its place") {
  struct Row {
    std::string text, what, where, hint;  // the hint, or a part of it
  };
  const std::vector<Row> rows{
      {"[]", "a list of programs is wanted", "p.yaml:1:1", "- {ranks: 0-1, program: ["},
      {"- {ranks: 0-2, program: ./a}\n", "rank 3 of 4 has no program", "p.yaml:1:1",
       "- {ranks: '3', program"},
      {"- {ranks: '1,3', program: ./a}\n", "rank 0 of 4 has no program", "p.yaml:1:1", "ranks: '0,2'"},
      {"- {ranks: 0-3, program: ./a}\n- {ranks: 3, program: ./b}\n",
       "rank 3 has a program already, of entry 1", "p.yaml:2:11", "in one of the entries 1 and 2"},
      {"- {ranks: 0-4, program: ./a}\n", "'0-4' are not ranks from 0 to 3, ascending", "p.yaml:1:11",
       "ranks: 0-3"},
      {"- {hosts: h3, program: ./a}\n", "h3 is no host of this job", "p.yaml:1:11",
       "hosts: h1   # the job has h[1-2]"},
      {"- {ranks: 0-3}\n", "there is no program", "p.yaml:1:3", "program: ["},
      {"- {ranks: 0-3, hosts: h1, program: a}\n", "a program needs either ranks or hosts", "p.yaml:1:3",
       "one of the two"},
      {"- {program: a}\n", "a program needs either ranks or hosts", "p.yaml:1:3", "ranks: 0-1, or hosts:"},
      {"- {ranks: 0-3, programm: a}\n",
       "'programm' is not one of ranks, hosts, name, program, set, serves, arguments", "p.yaml:1:26",
       "program:"},
      {"- {ranks: 0-3, program: a, set: {1A: b}}\n", "'1A' is no variable name", "p.yaml:1:38",
       "letters, digits"},
      {"- {ranks: 0-3, program: a, set: {API_TOKEN: b}}\n",
       "API_TOKEN looks like a secret, and what `set` gives is kept in files of the run", "p.yaml:1:45",
       "-x API_TOKEN instead"},
      {"- {ranks: 0-3, program: a, serves: yes}\n", "true or false is wanted", "p.yaml:1:36",
       "serves: true"}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    std::string what, where, hint;
    try {
      parse_program_list(row.text, "p.yaml", list_sheet());
    } catch (const Error& error) {
      what = error.message().what;
      where = error.message().where;
      hint = error.message().hint;
    }
    CHECK(what == row.what);
    CHECK(where == row.where);
    CAPTURE(hint);
    CHECK(hint.find(row.hint) != std::string::npos);
  }
}

TEST_CASE("the hint for a list that is not YAML concerns lists of programs") {
  const std::string too_long(2u << 20, '#');
  for (const std::string& text : {std::string("- {ranks: 0-3, program: ./a\n"),
                                  std::string("- &all {ranks: 0-3, program: ./a}\n"), too_long}) {
    CAPTURE(text.substr(0, 60));
    std::string where, hint;
    try {
      parse_program_list(text, "p.yaml", list_sheet());
    } catch (const Error& error) {
      where = error.message().where;
      hint = error.message().hint;
    }
    CHECK(where.starts_with("p.yaml"));
    CHECK(hint == "a list with one entry a line: - {ranks: 0-1, program: [./server, --port, \"2222\"]}");
  }
}

TEST_SUITE_END();
