// SPDX-License-Identifier: MIT
#include "base/text/svg.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/text/svg");

TEST_CASE("foreign text is never markup") {
  struct Row {
    std::string text, html;
  };
  const std::vector<Row> rows{
      {"plain", "plain"},
      {"<script>alert('x')</script>", "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"},
      {"\" onload=\"x", "&quot; onload=&quot;x"},
      {"&lt;", "&amp;lt;"},
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"a\x1b[31mred\x7f", "a\\x1b[31mred\\x7f"},
      {"tab\tline\n", "tab\\x09line\\x0a"},
      {std::string("nul\0!", 5), "nul\\x00!"},
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong '/'
      {"\xe0\x80\xbc", "\\xe0\\x80\\xbc"},           // overlong '<'
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond Unicode
      {"\xc2\x85", "\\xc2\\x85"},                    // C1: a line break to some
      {"cut \xe2\x82", "cut \\xe2\\x82"},
      {"", ""}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(escape_html(row.text) == row.html);
  }
}

TEST_CASE("lines stay where they are wanted, and length has an end") {
  CHECK(escape_html("a\n\tb\r", 100, true) == "a\n\tb\\x0d");
  CHECK(escape_html("abcdef", 3) == "abc...");
  CHECK(escape_html("abc", 3) == "abc");
}

TEST_CASE("elements: numbers with one decimal at most, texts escaped") {
  CHECK(svg_number(12) == "12");
  CHECK(svg_number(12.34) == "12.3");
  CHECK(svg_number(-0.5) == "-0.5");
  CHECK(svg_text(1, 2.5, "a<b", " fill=\"#fff\"") == "<text x=\"1\" y=\"2.5\" fill=\"#fff\">a&lt;b</text>\n");
  CHECK(svg_rect({0, 1, 2, -3}, "#fff") ==
        "<rect x=\"0\" y=\"1\" width=\"2\" height=\"0\" fill=\"#fff\"/>\n");
  CHECK(svg_rect({0, 1, 2, 3}, "#fff", "", "\"").find("<title>&quot;</title></rect>") != std::string::npos);
}

TEST_CASE("an axis ends at a number that quarters well") {
  struct Row {
    double value, ceiling;
  };
  for (const Row& row : {Row{0.9, 1}, Row{1.1, 1.2}, Row{230, 240}, Row{241, 320}, Row{81000, 100000}})
    CHECK(axis_ceiling(row.value) == doctest::Approx(row.ceiling));
  CHECK(axis_ceiling(0) > 0);
}

TEST_SUITE_END();
