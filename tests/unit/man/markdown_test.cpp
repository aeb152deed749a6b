// SPDX-License-Identifier: MIT
#include "man/document.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::man;

TEST_SUITE_BEGIN("man/markdown");

TEST_CASE("blocks") {
  const auto blocks = parse_markdown(
      "# Title\n\nTwo\nlines.\n\n- one\n  goes on\n- two\n\n    code  x\n\n      deeper\n\n| a | b "
      "|\n|---|---|\n"
      "| `x\\|y` | z |\nEnd.\n");
  REQUIRE(blocks.size() == 7);
  CHECK(blocks[0].kind == BlockKind::heading);
  CHECK(blocks[0].level == 1);
  CHECK(blocks[1].text == "Two lines.");
  CHECK(blocks[2].kind == BlockKind::item);
  CHECK(blocks[2].text == "one goes on");
  CHECK(blocks[4].kind == BlockKind::code);
  CHECK(blocks[4].text == "code  x\n\n  deeper\n");
  REQUIRE(blocks[5].rows.size() == 2);
  CHECK(blocks[5].rows[1] == std::vector<std::string>{"`x|y`", "z"});
  CHECK(blocks[6].text == "End.");
}

// As CommonMark 0.31 (lists) and GitHub's tables read them.
TEST_CASE("numbered items, and the table of an item") {
  const auto blocks = parse_markdown(
      "These:\n\n1. one\n   goes on\n2. two;\n\nIn 1998. No item.\n\n- rows:\n\n"
      "  | a | b |\n  |---|---|\n  | c | d |\n\n  After.\n");
  REQUIRE(blocks.size() == 7);
  CHECK(blocks[1].kind == BlockKind::item);
  CHECK(blocks[1].level == 1);
  CHECK(blocks[1].text == "one goes on");
  CHECK(blocks[2].level == 2);
  CHECK(blocks[2].text == "two;");
  CHECK(blocks[3].kind == BlockKind::paragraph);
  CHECK(blocks[4].level == 0);
  CHECK(blocks[5].kind == BlockKind::table);
  REQUIRE(blocks[5].rows.size() == 2);
  CHECK(blocks[5].rows[1] == std::vector<std::string>{"c", "d"});
  CHECK(blocks[6].text == "After.");
}

TEST_CASE("a section ends at the next heading of its level") {
  const auto document = parse_markdown("# T\n\n## A\n\none\n\n### sub\n\ntwo\n\n## B\n\nthree\n");
  CHECK(section_of(document, "A").size() == 3);
  CHECK(section_of(document, "B").size() == 1);
  CHECK(section_of(document, "C").empty());
}

TEST_SUITE_END();
