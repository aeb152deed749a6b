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

TEST_SUITE_END();
