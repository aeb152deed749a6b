// SPDX-License-Identifier: MIT
#include "schedulers/job/scheduler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

using namespace ddlrun::schedulers;

namespace {

// When the scheduler is asked in `hours`; `changed` and `failed` tell what it answers at a time.
std::vector<double> follow(double hours, const std::function<bool(double)>& changed,
                           const std::function<bool(double)>& failed) {
  PollBackoff pace;
  std::vector<double> asked;
  for (double now = 0; now < hours * 3600;) {
    asked.push_back(now);
    now += pace.next(changed(now), failed(now));
  }
  return asked;
}

// The fullest window of an hour, wherever it begins.
long most_per_hour(const std::vector<double>& asked) {
  long most = 0;
  for (auto first = asked.begin(); first != asked.end(); ++first)
    most = std::max(most, std::lower_bound(first, asked.end(), *first + 3600) - first);
  return most;
}

bool never(double) { return false; }
bool always(double) { return true; }

}  // namespace

TEST_SUITE_BEGIN("schedulers/client/poll_backoff");

TEST_CASE("the pace grows from 2 s to 30 s") {
  PollBackoff pace;
  for (const double seconds : {2., 4., 8., 16., 30., 30.}) CHECK(pace.next(false, false) == seconds);
}

TEST_CASE("after a change the next question comes soon") {
  PollBackoff pace;
  for (int i = 0; i < 10; ++i) pace.next(false, false);
  CHECK(pace.next(true, false) == 2);
  CHECK(pace.next(false, false) == 4);
}

TEST_CASE("errors double the pause up to 300 s, and an answer ends that") {
  PollBackoff pace;
  CHECK(pace.next(false, true) == 4);
  for (const double seconds : {8., 16., 32., 64., 128., 256., 300., 300.})
    CHECK(pace.next(false, true) == seconds);
  CHECK(pace.failures == 9);
  CHECK(pace.next(false, false) == 30);
  CHECK(pace.failures == 0);
}

TEST_CASE("a job of 10 hours costs at most 130 questions in any hour") {
  // It waits an hour, runs, and ends.
  bool started = false;
  const auto start = [&](double now) { return now > 3600 && !std::exchange(started, true); };
  const auto plain = follow(10, start, never);
  CHECK(most_per_hour(plain) <= 130);
  CHECK(plain.size() <= 1215);  // one every 30 s is 1200
  CHECK(plain.size() >= 1195);

  SUBCASE("an array whose tasks change all the time") {
    CHECK(most_per_hour(follow(10, always, never)) <= 130);
  }
  SUBCASE("a controller that never answers") { CHECK(most_per_hour(follow(10, never, always)) <= 20); }
  SUBCASE("a controller that answers every second time") {
    int n = 0;
    CHECK(most_per_hour(follow(10, never, [&](double) { return n++ % 2 == 0; })) <= 130);
  }
}

TEST_SUITE_END();
