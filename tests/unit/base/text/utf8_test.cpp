// SPDX-License-Identifier: MIT
#include "base/text/utf8.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/text/utf8");

TEST_CASE("lengths of characters") {
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("\xc3\xa9x") == 2);
  CHECK(utf8_length("\xe2\x82\xac") == 3);
  CHECK(utf8_length("\xf0\x9f\x98\x80") == 4);
  CHECK(utf8_length("") == 0);
}

TEST_CASE("what is no UTF-8: RFC 3629") {
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xbc", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "\xf0\x9f\x98"}) {
    CHECK(utf8_length(bad) == 0);
    CHECK_FALSE(is_utf8(std::string_view(bad)));
  }
  CHECK(is_utf8(""));
  CHECK(is_utf8("caf\xc3\xa9 \xe2\x82\xac"));
  CHECK_FALSE(is_utf8("cut \xe2\x82"));
}

TEST_CASE("JSON: what no terminal shows as it is, is escaped; the rest stays") {
  CHECK(escape_json("{\n  \"a\": \"caf\xc3\xa9 \xed\x95\x9c \xf0\x9f\x98\x80\"\n}\n") ==
        "{\n  \"a\": \"caf\xc3\xa9 \xed\x95\x9c \xf0\x9f\x98\x80\"\n}\n");
  CHECK(escape_json("\"\xc2\x80 \xc2\x9b \xc2\x9f \xc2\xa0 \x7f\"") ==
        "\"\\u0080 \\u009b \\u009f \xc2\xa0 \\u007f\"");
  CHECK(escape_json("\"\xd8\x9c \xe2\x80\x8f \xe2\x80\xa8 \xe2\x80\xae \xe2\x81\xa9\"") ==
        "\"\\u061c \\u200f \\u2028 \\u202e \\u2069\"");
}

TEST_SUITE_END();
