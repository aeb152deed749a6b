// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

#include <tuple>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/text/text");

TEST_CASE("to_upper: ASCII letters only") {
  CHECK(to_upper("") == "");
  CHECK(to_upper("azAZ09_-`{") == "AZAZ09_-`{");
  CHECK(to_upper("\xc3\xa9\xff") == "\xc3\xa9\xff");
}

TEST_CASE("parse_unsigned takes digits only, and no more than fits") {
  struct Row {
    std::string_view text;
    std::uint64_t max;
    std::optional<std::uint64_t> want;
  };
  const Row rows[] = {{"0", 10, 0},
                      {"7", 10, 7},
                      {"10", 10, 10},
                      {"11", 10, {}},
                      {"", 10, {}},
                      {"-1", 10, {}},
                      {"+1", 10, {}},
                      {" 1", 10, {}},
                      {"1 ", 10, {}},
                      {"0x4", 10, {}},
                      {"1.0", 10, {}},
                      {"007", 10, 7},
                      {"18446744073709551615", UINT64_MAX, UINT64_MAX},
                      {"18446744073709551616", UINT64_MAX, {}},
                      {"99999999999999999999999", UINT64_MAX, {}},
                      {"\xef\xbc\x91", 10, {}}};  // a full-width 1
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(parse_unsigned(row.text, row.max) == row.want);
  }
}

TEST_CASE("closest_match finds what was meant, not just anything") {
  const std::vector<std::string> names{"submit", "launch", "topo", "gen-rankfile"};
  CHECK(closest_match("sumbit", names) == "submit");
  CHECK(closest_match("gen-rakfile", names) == "gen-rankfile");
  CHECK(closest_match("tpo", names) == "topo");
  CHECK_FALSE(closest_match("frobnicate", names).has_value());
  const std::vector<std::string> options{"--batch-size", "--test-batch", "--test-every", "--data"};
  CHECK(closest_match("--batch", options) == "--batch-size");  // the only one that contains it
  CHECK_FALSE(closest_match("--test", options).has_value());
  CHECK_FALSE(closest_match("--b", options).has_value());
}

TEST_CASE("quote_shell keeps safe words bare") {
  CHECK(quote_shell("a/b-c_d.e=f:1,2@x%+") == "a/b-c_d.e=f:1,2@x%+");
  CHECK(quote_shell("") == "''");
  CHECK(quote_shell("a b") == "'a b'");
  CHECK(quote_shell("it's") == "'it'\\''s'");
  CHECK(quote_shell("$(x)`y`\n") == "'$(x)`y`\n'");
  CHECK(quote_shell("~") == "'~'");
}

TEST_CASE("ranges both ways") {
  struct Row {
    std::vector<int> numbers;
    std::string text;
  };
  const Row rows[] = {{{}, ""}, {{3}, "3"}, {{0, 1, 2, 5}, "0-2,5"}, {{0, 2, 4}, "0,2,4"}, {{8, 9}, "8-9"}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(render_ranges(row.numbers) == row.text);
    CHECK(parse_ranges(row.text, 100) == row.numbers);
  }
  for (const char* bad : {"3-1", "1,1", "2,1", "a", "1-", "-1", "1,,2", "101", "0-999999999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_ranges(bad, 100).has_value());
  }
}

TEST_CASE("printable leaves no control byte and no endless line") {
  CHECK(printable("a\x1b[2Jb\n") == "a\\x1b[2Jb\\x0a");
  CHECK(printable(std::string(300, 'x'), 10) == "xxxxxxxxxx...");
  CHECK(printable("\xec\x9e\x90\xc3\xa9") == "\xec\x9e\x90\xc3\xa9");             // U+C790, U+00E9
  CHECK(printable("a\xc2\x9b" "2J") == "a\\xc2\\x9b2J");                          // U+009B, a CSI
  CHECK(printable("a\xe2\x80\xae" "b") == "a\\xe2\\x80\\xae" "b");                // U+202E turns the direction
  CHECK(printable("a\xff") == "a\\xff");
}

TEST_CASE("an error cannot be built without a remedy") {
  CHECK_THROWS_AS(Error(ErrorKind::usage, {"what", "where", ""}), std::logic_error);
  CHECK_THROWS_AS(Error(ErrorKind::usage, {"", "where", "hint"}), std::logic_error);
  CHECK(render_error("ddlrun", {"w", "p", "h"}) == "ddlrun: error: w\n  at:  p\n  try: h\n");
  CHECK(render_error("ddlrun", {"w", "", "h"}) == "ddlrun: error: w\n  try: h\n");
}

TEST_CASE("a pattern with *") {
  for (const auto& [pattern, name, fits] :
       {std::tuple{"A_*", "A_B", true}, std::tuple{"A_*", "A_", true}, std::tuple{"A_*", "BA_", false},
        std::tuple{"*_A", "B_A_A", true}, std::tuple{"*A*B*", "xAyBz", true},
        std::tuple{"*A*B*", "xByAz", false}, std::tuple{"A", "AB", false}, std::tuple{"**", "", true},
        std::tuple{"", "A", false}}) {
    CAPTURE(pattern);
    CAPTURE(name);
    CHECK(ddlrun::matches_pattern(pattern, name) == fits);
  }
}

TEST_CASE("words are replaced, parts of words are not") {
  CHECK(replace_word("HOST HOSTS $HOST (HOST)", "HOST", "h1") == "h1 HOSTS $HOST (h1)");
  CHECK(replace_word("a", "a", "a a") == "a a");
  CHECK(find_word("JOBS, JOB", "JOB") == 6);
  CHECK(find_word("JOBS", "JOB") == std::string_view::npos);
}

TEST_CASE("a list shows its first words and how many more there are") {
  const std::vector<std::string> words{"a", "b", "c"};
  CHECK(join_first(words, 3) == "a, b, c");
  CHECK(join_first(words, 2) == "a, b and 1 more");
  CHECK(join_first(words, 1, ",") == "a and 2 more");
  CHECK(join_first({}, 2).empty());
}

TEST_SUITE_END();
