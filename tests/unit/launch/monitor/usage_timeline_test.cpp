// SPDX-License-Identifier: MIT
#include "launch/monitor/usage_timeline.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace ddlrun::launch;

TEST_SUITE_BEGIN("launch/monitor/usage_timeline");

TEST_CASE("each of a few ranks has a series; one that has ended has a gap") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  UsageHistory history;
  history.add(2, {{1, 100}, {0.5, 50}});
  history.add(4, {{2, 200}, {none, none}});
  const UsageTimeline& timeline = history.timeline();
  REQUIRE(timeline.series.size() == 2);
  CHECK(timeline.seconds == std::vector<double>{2, 4});
  CHECK(timeline.series[0] == UsageSeries{"rank 0", {1, 2}, {100, 200}});
  CHECK(timeline.series[1].name == "rank 1");
  CHECK(timeline.series[1].cores[0] == 0.5);
  CHECK(std::isnan(timeline.series[1].cores[1]));
}

TEST_CASE("of many ranks only the lowest, the mean and the highest are kept, without those that have ended") {
  UsageHistory history;
  std::vector<RankLoad> ranks(10, {1, 10});
  ranks[3] = {4, 40};
  ranks[9].cores = ranks[9].mib = std::nan("");
  history.add(1, ranks);
  const UsageTimeline& timeline = history.timeline();
  REQUIRE(timeline.series.size() == 3);
  CHECK(timeline.series[0] == UsageSeries{"lowest", {1}, {10}});
  CHECK(timeline.series[1].cores[0] == doctest::Approx(12.0 / 9));
  CHECK(timeline.series[2] == UsageSeries{"highest", {4}, {40}});
}

TEST_CASE("a run of days has no more points than one of minutes, and each point is the mean of its stretch") {
  UsageHistory history;
  for (int i = 0; i < 100'000; ++i) history.add(2 * i, {{i % 2 == 0 ? 0.0 : 2.0, 5}});
  const UsageTimeline& timeline = history.timeline();
  CHECK(timeline.seconds.size() <= most_timeline_points);
  CHECK(timeline.seconds.size() >= most_timeline_points / 2);
  for (std::size_t i = 1; i + 1 < timeline.seconds.size(); ++i) {
    CHECK(timeline.seconds[i] > timeline.seconds[i - 1]);
    CHECK(timeline.series[0].cores[i] == doctest::Approx(1));
    CHECK(timeline.series[0].mib[i] == doctest::Approx(5));
  }
}
