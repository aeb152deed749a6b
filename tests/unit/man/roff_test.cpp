// SPDX-License-Identifier: MIT
#include "man/roff.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::man;

TEST_SUITE_BEGIN("man/roff");

// Escapes as groff_char(7) and man(7) of groff 1.22.4 and mandoc 1.14.6 have them.
TEST_CASE("text is printed as it is") {
  CHECK(escape_roff("a-b \\n ~/x ^ `c`") == "a\\-b \\en \\(ti/x \\(ha \\(gac\\(ga");
  CHECK(escape_inline("`--x` and **bold**, [a page](a_page.md), a [b] (c)") ==
        "\\fB\\-\\-x\\fR and \\fBbold\\fR, a page, a [b] (c)");
  CHECK(escape_inline("`a**b`") == "\\fBa**b\\fR");
}

TEST_CASE("no line of text is a request, or too long") {
  Page page("t", '1', "2026-11-25", "x");
  std::string text;
  for (int i = 0; i < 60; ++i) text += ".word ";
  page.section("Name").paragraph(text).lines(".dot\n'quote\nplain\n");
  const std::string& out = page.text();
  CHECK(out.find("\n.word") == out.npos);
  CHECK(out.find("\n\\&.dot\n\\&'quote\nplain\n") != out.npos);
  std::size_t longest = 0, from = 0;
  for (std::size_t at = out.find('\n'); at != out.npos; from = at + 1, at = out.find('\n', from))
    longest = std::max(longest, at - from);
  CHECK(longest <= 80);
}

// .IP and .TP as man(7) has them.
TEST_CASE("lists keep their numbers, and tables the heads of their columns") {
  const std::string out =
      Page("t", '1', "2026-11-25", "x")
          .blocks(parse_markdown(
              "1. one\n2. two\n\n- dot\n\n| logs | right | wrong |\n|---|---|---|\n| 42 | 69 % | 7 % |\n\n"
              "| option | meaning |\n|---|---|\n| `-x` | out |\n"))
          .text();
  CHECK(out.find(".IP 1. 4\none\n.IP 2. 4\ntwo\n.IP \\(bu 2\ndot\n") != out.npos);
  CHECK(out.find(".TP\n42\nright: 69 %; wrong: 7 %\n") != out.npos);
  CHECK(out.find(".TP\n\\fB\\-x\\fR\nout\n") != out.npos);
}

TEST_SUITE_END();
