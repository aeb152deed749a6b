// SPDX-License-Identifier: MIT
// Keys; tests/cli/top_screen.py has the rest, on terminals.
#include "base/os/posix_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/os/terminal");

TEST_CASE("keys with names, pasted control characters and UTF-8 are no letters") {
  CHECK(find_plain_keys("qc") == "qc");
  CHECK(find_plain_keys("\x1b[A") == "");
  CHECK(find_plain_keys("\x1b[1;5Cq") == "q");
  CHECK(find_plain_keys("\x1bOq") == "");
  CHECK(find_plain_keys("\x1bq") == "");
  CHECK(find_plain_keys("\x1b") == "");
  CHECK(find_plain_keys("\x1b[1") == "");
  CHECK(find_plain_keys("a\x01\x7f\tb") == "ab");
  CHECK(find_plain_keys("\xc3\xa4") == "");
}
