// SPDX-License-Identifier: MIT
#include "launch/ssh/line_buffer.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using ddlrun::launch::LineBuffer;

TEST_SUITE_BEGIN("launch/ssh/line_buffer");

TEST_CASE("only what has an end is passed on") {
  struct Row {
    std::vector<std::string> bytes, passed;
    std::string rest;
  };
  const std::vector<Row> rows{
      {{"a\nb\n"}, {"a\nb\n"}, ""},
      {{"a", "b", "\n"}, {"", "", "ab\n"}, ""},
      {{"a\nb", "c\nd"}, {"a\n", "bc\n"}, "d"},
      {{"\r 10%", "\r 20%", "\n"}, {"\r", " 10%\r", " 20%\n"}, ""},
      {{"a\r", "\nb"}, {"", "a\r\n"}, "b"},
      {{"a\r\nb"}, {"a\r\n"}, "b"},
      {{""}, {""}, ""},
      {{std::string("\0\n\0", 3)}, {std::string("\0\n", 2)}, std::string(1, '\0')},
  };
  for (const Row& row : rows) {
    LineBuffer lines;
    for (std::size_t i = 0; i < row.bytes.size(); ++i) {
      CAPTURE(row.bytes[i]);
      CHECK(lines.take(row.bytes[i]) == row.passed[i]);
    }
    CHECK(lines.holds_some() == !row.rest.empty());
    CHECK(lines.take_rest() == row.rest);
  }
}

TEST_CASE("a line without end is passed on in pieces") {
  LineBuffer lines;
  std::string passed;
  for (int i = 0; i < 1000; ++i) passed += lines.take(std::string(1000, 'x'));
  CHECK(passed.size() >= 1'000'000 - LineBuffer::longest);
  CHECK(passed + lines.take_rest() == std::string(1'000'000, 'x'));
}

TEST_CASE("however the bytes are cut, none is lost and no line is broken") {
  std::mt19937 random(7);
  std::string all;
  for (int i = 0; i < 2000; ++i) all += std::string(random() % 50, 'a') + (random() % 5 == 0 ? "\r\n" : "\n");
  LineBuffer lines;
  std::string passed;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t size = 1 + random() % 200;
    const std::string now = lines.take(std::string_view(all).substr(at, size));
    if (!now.empty()) CHECK(now.back() == '\n');
    passed += now;
    at += size;
  }
  CHECK(passed == all);
}

TEST_SUITE_END();
