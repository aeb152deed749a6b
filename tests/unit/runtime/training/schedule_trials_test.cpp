// SPDX-License-Identifier: MIT
#include "runtime/training/schedule_trials.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/training/schedule_trials");

TEST_CASE("each schedule is tried in turn, the fastest median is kept, 2 % are not enough") {
  struct Row {
    std::vector<double> seconds;  // of each schedule
    std::size_t kept;
  };
  const Row rows[] = {
      {{1.0, 0.9, 0.8}, 2}, {{1.0, 0.9, 1.1}, 1}, {{1.0, 0.99, 0.985}, 0}, {{0.5, 0.9, 0.8}, 0}};
  for (const Row& row : rows) {
    const std::vector<ReduceSchedule> schedules{{false, 0}, {true, 1}, {true, 2}};
    ddl::Trials trials = make_schedule_trials(schedules);
    bool done = false;
    std::size_t steps = 0;
    while (!done && steps < 1000) {
      ++steps;
      const double disturbance = steps % 9 == 0 ? 50.0 : 0.0;
      done = trials.add(row.seconds[trials.current()] + disturbance);
    }
    REQUIRE(done);
    CHECK(steps < 40);
    CHECK(!trials.decided());
    trials.decide(trials.medians());
    CHECK(trials.decided());
    CHECK(trials.current() == row.kept);
    CHECK(!trials.add(1.0));
    CHECK(trials.current() == row.kept);
  }
}

TEST_CASE("a schedule across steps is measured by the steps that have the rest of one like them in front") {
  const std::vector<ReduceSchedule> schedules{{false, 0}, {true, 1, 50}};
  ddl::Trials trials = make_schedule_trials(schedules);
  bool done = false;
  std::size_t in_turn = 0;
  while (!done) {
    const bool across = trials.current() == 1;
    const bool last = trials.turn_ends();
    in_turn = across ? in_turn + 1 : 0;
    done = trials.add(!across ? 1.0 : in_turn == 1 ? 0.1 : 1.1);
    CHECK(((!across && trials.current() == 0 && !done) || last == (in_turn == 3 || !across)));
  }
  trials.decide(trials.medians());
  CHECK(trials.current() == 0);
}

TEST_CASE("a single schedule is kept without a trial") {
  const std::vector<ReduceSchedule> schedules{{true, 5}};
  const ddl::Trials trials = make_schedule_trials(schedules);
  CHECK(trials.decided());
  CHECK(trials.current() == 0);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
