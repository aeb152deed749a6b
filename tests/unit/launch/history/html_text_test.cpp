// SPDX-License-Identifier: MIT
#include "launch/history/html_text.hpp"

#include <doctest/doctest.h>

#include <vector>

using ddlrun::run_report::escape_html;

TEST_SUITE_BEGIN("launch/history/html_text");

TEST_CASE("no one's text is markup") {
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

TEST_CASE("files as links") {
  using ddlrun::run_report::render_file_link;
  CHECK(render_file_link("/a/b-c_1.json") == "/a/b-c_1.json");
  CHECK(render_file_link("/a b/\"><x#?%") == "/a%20b/%22%3E%3Cx%23%3F%25");
  CHECK(render_file_link("javascript:x") == "javascript%3Ax");
}

TEST_SUITE_END();
