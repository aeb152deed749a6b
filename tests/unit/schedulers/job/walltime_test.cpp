// SPDX-License-Identifier: MIT
#include "schedulers/job/job_spec.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ddlrun::schedulers;

TEST_SUITE_BEGIN("schedulers/job/walltime");

TEST_CASE("times as people write them") {
  struct Row {
    const char* text;
    std::uint64_t seconds;  // 0: refused
  };
  const Row rows[] = {
      {"04:00:00", 14400},
      {"4:00:00", 14400},
      {"00:00:01", 1},
      {"100:00:00", 360000},
      {"1-12:00:00", 129600},
      {"0-00:10:00", 600},
      {"90m", 5400},
      {"4h", 14400},
      {"1h30m", 5400},
      {"2d", 172800},
      {"1d12h", 129600},
      {"45s", 45},
      {"1h0m5s", 3605},
      {"48h", 172800},
      // Refused: a bare number, forms that differ between schedulers, overflow, signs, blanks.
      {"240", 0},
      {"", 0},
      {"0", 0},
      {"0h", 0},
      {"00:00:00", 0},
      {"10:00", 0},
      {"1-12", 0},
      {"1-24:00:00", 0},
      {"99:99:99", 0},
      {"4:0:0", 0},
      {"1:60:00", 0},
      {"1h90m", 0},
      {"1m1h", 0},
      {"1h1h", 0},
      {"h", 0},
      {"4 h", 0},
      {" 4h", 0},
      {"4h ", 0},
      {"+4h", 0},
      {"-4h", 0},
      {"4H", 0},
      {"1.5h", 0},
      {"4hours", 0},
      {"unlimited", 0},
      {"99999999999999999999h", 0},
      {"3660d1s", 0},
      {"\xef\xbc\x94h", 0},
      {"1-1-01:00:00", 0},
      {"::", 0},
      {"1::", 0},
      {"18446744073709551615s", 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(parse_walltime(row.text).value_or(0) == row.seconds);
  }
}

TEST_CASE("a rendered time reads back as itself") {
  CHECK(render_walltime(360000) == "100:00:00");
  CHECK(render_walltime(61) == "00:01:01");
  std::uint64_t seconds = 1;
  for (int i = 0; i < 2000; ++i) {
    seconds = (seconds * 6364136223846793005ull + 1442695040888963407ull);
    const std::uint64_t some = seconds % (9 * 366 * 86400) + 1;
    CAPTURE(some);
    CHECK(parse_walltime(render_walltime(some)) == some);
  }
}

TEST_SUITE_END();
