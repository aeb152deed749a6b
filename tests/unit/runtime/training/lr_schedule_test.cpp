// SPDX-License-Identifier: MIT
// Sharding and learning rates: closed forms.
#include "runtime/training/lr_schedule.hpp"

#include "runtime/app/thread_count.hpp"
#include "runtime/data/sharding.hpp"
#include "runtime/training/divergence.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/training/lr_schedule");

TEST_CASE("sharding: a permutation, the same for equal seed and epoch only") {
  const auto order = epoch_permutation(1000, 7, 3);
  CHECK(std::set<std::uint32_t>(order.begin(), order.end()).size() == 1000);
  CHECK(*std::max_element(order.begin(), order.end()) == 999);
  CHECK(order == epoch_permutation(1000, 7, 3));
  CHECK(order != epoch_permutation(1000, 7, 4));
  CHECK(order != epoch_permutation(1000, 8, 3));
  CHECK(epoch_permutation(0, 1, 0).empty());
  CHECK(epoch_permutation(1, 1, 0) == std::vector<std::uint32_t>{0});
}

TEST_CASE(
    "sharding: the ranks' slices of a step are disjoint and make the global batch for any number of ranks") {
  const auto order = epoch_permutation(103, 1, 0);
  constexpr std::size_t whole_batch = 24;
  CHECK(steps_per_epoch(order.size(), whole_batch) == 4);
  for (const std::size_t ranks : {1U, 2U, 3U, 4U, 6U, 8U, 12U, 24U}) {
    for (std::size_t step = 0; step < 4; ++step) {
      std::vector<std::uint32_t> all;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto slice = step_slice(order, step, whole_batch, rank, ranks);
        CHECK(slice.size() == whole_batch / ranks);
        all.insert(all.end(), slice.begin(), slice.end());
      }
      const auto first = order.begin() + static_cast<std::ptrdiff_t>(step * whole_batch);
      CHECK(std::equal(all.begin(), all.end(), first, first + whole_batch));
    }
  }
}

TEST_CASE("sharding: the global batch must be divisible, and the nearest that are get named") {
  CHECK(local_batch(64, 4, 1000) == 16);
  expect_error(ErrorKind::usage, "64 cannot be divided by 3 ranks; the nearest that can: 63 or 66",
               [] { local_batch(64, 3, 1000); });
  expect_error(ErrorKind::usage, "the nearest that can: 8", [] { local_batch(5, 8, 1000); });
  expect_error(ErrorKind::request, "2000 exceeds the 1000 training images",
               [] { local_batch(2000, 4, 1000); });
}

TEST_CASE("sharding: even shares cover everything once and differ by at most one") {
  for (std::size_t count : {0U, 1U, 7U, 200U}) {
    for (std::size_t ranks = 1; ranks < 9; ++ranks) {
      std::size_t next = 0;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const Range range = even_chunk(count, rank, ranks);
        CHECK(range.begin == next);
        CHECK(range.end - range.begin <= count / ranks + 1);
        CHECK(range.end - range.begin >= count / ranks);
        next = range.end;
      }
      CHECK(next == count);
    }
  }
}

TEST_CASE("learning rate: factors, warm-up, decay") {
  CHECK(lr_factor(LrScale::linear, 8) == 8.0);
  CHECK(lr_factor(LrScale::sqrt, 16) == 4.0);
  CHECK(lr_factor(LrScale::none, 8) == 1.0);
  const LrSchedule constant{0.4, 0, 100, LrDecay::none, 0.0, 0.0, 0, {}};
  CHECK(learning_rate(constant, 0) == 0.4);
  CHECK(learning_rate(constant, 99) == 0.4);
  const LrSchedule warm{0.4, 4, 100, LrDecay::none, 0.0, 0.0, 0, {}};
  CHECK(learning_rate(warm, 0) == doctest::Approx(0.1));
  CHECK(learning_rate(warm, 3) == doctest::Approx(0.4));
  CHECK(learning_rate(warm, 4) == 0.4);
  const LrSchedule cosine{0.4, 10, 110, LrDecay::cosine, 0.0, 0.0, 0, {}};
  CHECK(learning_rate(cosine, 10) == doctest::Approx(0.4));
  CHECK(learning_rate(cosine, 60) == doctest::Approx(0.2));
  CHECK(learning_rate(cosine, 110) == doctest::Approx(0.0));
}

// GetLearningRate of src/caffe/solvers/sgd_solver.cpp, worked out in double precision.
TEST_CASE("learning rate: Caffe's policies") {
  struct Row {
    LrSchedule schedule;
    std::size_t step;
    double rate;
  };
  const LrSchedule by_steps{0.1, 0, 10000, LrDecay::step, 0.5, 0.0, 100, {}};
  const LrSchedule by_list{0.1, 0, 10000, LrDecay::multistep, 0.1, 0.0, 0, {3, 60, 4000}};
  const LrSchedule lenet{0.01, 0, 10000, LrDecay::inv, 0.0001, 0.75, 0, {}};
  const LrSchedule exponential{0.1, 0, 10000, LrDecay::exp, 0.999, 0.0, 0, {}};
  const LrSchedule root{0.1, 0, 10000, LrDecay::poly, 0.0, 0.5, 0, {}};
  const LrSchedule square{0.1, 0, 10000, LrDecay::poly, 0.0, 2.0, 0, {}};
  const LrSchedule s_shaped{0.1, 0, 10000, LrDecay::sigmoid, 0.01, 0.0, 500, {}};
  const LrSchedule warm{0.01, 5, 10000, LrDecay::inv, 0.0001, 0.75, 0, {}};
  const Row rows[] = {
      {by_steps, 0, 0.1},
      {by_steps, 99, 0.1},
      {by_steps, 100, 0.05},
      {by_steps, 350, 0.0125},
      {by_list, 2, 0.1},
      {by_list, 3, 0.01},
      {by_list, 59, 0.01},
      {by_list, 60, 0.001},
      {by_list, 9999, 0.0001},
      {lenet, 0, 0.01},
      {lenet, 5000, 0.00737787946467},
      {lenet, 9999, 0.0059462585611},
      {exponential, 0, 0.1},
      {exponential, 700, 0.0496411413431},
      {root, 3000, 0.0836660026534},
      {root, 10000, 0.0},
      {square, 9999, 1e-9},
      {s_shaped, 500, 0.05},
      {s_shaped, 300, 0.0119202922022},
      {s_shaped, 700, 0.0880797077978},
      {warm, 1, 0.004},
      {warm, 5000, 0.00737787946467},
  };
  for (const Row& row : rows) {
    CAPTURE(render_decay(row.schedule));
    CAPTURE(row.step);
    CHECK(learning_rate(row.schedule, row.step) == doctest::Approx(row.rate).epsilon(1e-9));
    CHECK(find_schedule_errors(row.schedule).empty());
  }
}

TEST_CASE("learning rate: what a policy lacks") {
  struct Row {
    LrSchedule schedule;
    const char* part;
  };
  const Row rows[] = {
      {{0.1, 0, 0, LrDecay::step, 0.5, 0.0, 0, {}}, "step needs a step size"},
      {{0.1, 0, 0, LrDecay::step, 0.0, 0.0, 10, {}}, "gamma above 0, not 0"},
      {{0.1, 0, 0, LrDecay::exp, std::nan(""), 0.0, 0, {}}, "gamma above 0, not nan"},
      {{0.1, 0, 0, LrDecay::multistep, 0.1, 0.0, 0, {}}, "at least one step value"},
      {{0.1, 0, 0, LrDecay::multistep, 0.1, 0.0, 0, {5, 3}}, "5 comes before 3"},
      {{0.1, 0, 0, LrDecay::multistep, 0.1, 0.0, 0, {5, 5}}, "5 comes before 5"},
      {{0.1, 0, 0, LrDecay::inv, -1.0, 0.75, 0, {}}, "gamma of at least 0, not -1"},
  };
  for (const Row& row : rows) {
    const std::vector<std::string> errors = find_schedule_errors(row.schedule);
    REQUIRE(errors.size() == 1);
    CHECK_MESSAGE(errors.front().find(row.part) != std::string::npos, errors.front());
  }
}

TEST_CASE("learning rate: what to type where numbers are none any more") {
  struct Row {
    LrSchedule schedule;
    std::size_t step;
    const char* hint;
  };
  const Row rows[] = {
      {{0.02, 0, 16, LrDecay::exp, 5.0, 0.0, 0, {}},
       9,
       "--lr-decay cosine   # gamma 5 makes the rate grow, from 0.02"},
      {{1e30, 0, 16, LrDecay::cosine, 0.0, 0.0, 0, {}}, 0, "--lr 0.02"},
      {{0.1, 0, 5000, LrDecay::none, 0.0, 0.0, 0, {}}, 3, "--lr 0.01 --warmup-steps 100"},
      {{0.1, 200, 5000, LrDecay::none, 0.0, 0.0, 0, {}}, 300, "--lr 0.01"},
      {{0.1, 0, 9, LrDecay::none, 0.0, 0.0, 0, {}}, 3, "--lr 0.01"},
  };
  for (const Row& row : rows) {
    const std::string hint = suggest_lower_rate({row.step, row.schedule}, false);
    CHECK_MESSAGE(hint.starts_with(row.hint), hint);
    CHECK((std::string(row.hint).find('#') != std::string::npos || hint == row.hint));
  }
  // A rate that falls says nothing of the one at which it went wrong, and --lr is not what many ranks have.
  const LrSchedule falls{0.1, 0, 5000, LrDecay::cosine, 0.0, 0.0, 0, {}};
  CHECK(suggest_lower_rate({5000, falls}, true) == "--lr 0.01 --lr-scale none --warmup-steps 100");
  const LrSchedule rises{0.1, 100, 5000, LrDecay::cosine, 0.0, 0.0, 0, {}};
  CHECK(suggest_lower_rate({9, rises}, false) == "--lr 0.001");
  CHECK(suggest_lower_rate({9, rises, true}, false) == "--lr 0.001 --clip 5");
  CHECK(suggest_lower_rate({5000, falls, true}, false) == "--lr 0.01 --clip 5 --warmup-steps 100");
}

TEST_CASE("threads: cores are shared by the ranks with the same mask") {
  CHECK(threads_for_mask(8, "h 0-7", {"h 0-7"}) == 8);
  CHECK(threads_for_mask(8, "h 0-7", {"h 0-7", "h 0-7", "g 0-7"}) == 4);
  CHECK(threads_for_mask(2, "h 0-1", {"h 0-1", "h 0-1", "h 0-1"}) == 1);
  CHECK(threads_for_mask(0, "h", {}) == 1);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
