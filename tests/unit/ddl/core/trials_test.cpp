// SPDX-License-Identifier: MIT
#include "ddl/trials.hpp"

#include <doctest/doctest.h>

using ddl::Trials;

TEST_SUITE_BEGIN("ddl/core/trials");

TEST_CASE("candidates take turns; the smallest cost is kept, of equal ones the first") {
  Trials trials(std::vector<Trials::Turn>(3), {});
  std::vector<std::size_t> order;
  bool done = false;
  while (!done) {
    order.push_back(trials.current());
    done = trials.add(trials.current() == 2 ? 0.5 : 1.0);
  }
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0, 1, 2});
  CHECK(trials.medians() == std::vector<double>{1.0, 1.0, 0.5});
  Trials equal = trials;
  equal.decide(std::vector<double>{1.0, 1.0, 1.0});
  CHECK(equal.current() == 0);
  trials.decide(trials.medians());
  CHECK(trials.current() == 2);
  CHECK(trials.decided());
}

TEST_CASE("one disturbed measurement of three does not decide") {
  Trials trials(std::vector<Trials::Turn>(2), {});
  for (const double seconds : {9.0, 2.0, 1.0, 2.0, 1.0, 2.0}) trials.add(seconds);
  CHECK(trials.medians() == std::vector<double>{1.0, 2.0});
}

TEST_CASE("the warm-up and the first calls of a turn are not counted") {
  Trials trials({{3, 1}, {1, 0}}, {1, 2, 1.0});
  bool done = false;
  int calls = 0;
  while (!done) done = trials.add(++calls);
  CHECK(calls == 6);  // 2 to warm up, 3 of the first, 1 of the second
  CHECK(trials.medians() == std::vector<double>{5.0, 6.0});
}

TEST_CASE("a known candidate is kept without a trial") {
  Trials trials(std::vector<Trials::Turn>(3), {});
  trials.keep(1);
  CHECK_FALSE(trials.add(1.0));
  CHECK(trials.current() == 1);
}

TEST_SUITE_END();
