// SPDX-License-Identifier: MIT
#include "doctor/diagnose/output_gap.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;

TEST_SUITE_BEGIN("doctor/diagnose/output_gap");

TEST_CASE("the time stamp of a line, also behind its level") {
  const auto noon = seconds_in("2024-05-01T12:00:00 step 1");
  REQUIRE(noon.has_value());
  CHECK(seconds_in("INFO  [2024-05-01 12:01:00,250] step 2") == *noon + 60);
  CHECK(seconds_in("grid 20 x 20, 2048 cells") == std::nullopt);
}

TEST_CASE("a gap counts where it is far longer than the times between the lines before") {
  const std::string steps =
      "2024-05-01 10:00:00 step 1\n2024-05-01 10:01:00 step 2\n2024-05-01 10:02:00 step 3\n";
  const auto at = [](const char* time) { return seconds_in(time).value(); };
  CHECK(output_gap(steps, at("2024-05-01 15:17:00")) == 5 * 3600 + 15 * 60);
  CHECK(output_gap(steps + "srun: Job step aborted\n", at("2024-05-01 15:17:00")).has_value());
  CHECK(!output_gap(steps, at("2024-05-01 10:07:00")));                           // not long
  CHECK(!output_gap(steps, at("2024-05-01 18:02:20")));                           // perhaps another zone
  CHECK(!output_gap(steps + "cell 7 is next\n", at("2024-05-01 15:17:00")));      // of an unknown time
  CHECK(!output_gap("2024-05-01 10:00:00 step 1\n", at("2024-05-01 15:17:00")));  // one line is no habit
  CHECK(!output_gap("2024-05-01 01:00:00 a\n2024-05-01 04:00:00 b\n2024-05-01 10:00:00 c\n",
                    at("2024-05-01 15:17:00")));  // it is always slow
}

TEST_CASE("hours and minutes") {
  CHECK(render_hours(2700) == "45 min");
  CHECK(render_hours(43080) == "11 h 58 min");
}

TEST_SUITE_END();
