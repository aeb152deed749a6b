// SPDX-License-Identifier: MIT
#include "runtime/telemetry/progress.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {
namespace {

RunFacts progress_facts() {
  RunFacts facts;
  facts.epochs = 5;
  facts.total_steps = 200;
  return facts;
}

Progress progress_at(std::size_t step) {
  Progress progress;
  progress.record.step = step;
  progress.record.epoch = 2;
  progress.record.loss = 0.5;
  progress.images_per_second = 31234.5;
  return progress;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/telemetry/progress");

// namespace

TEST_CASE("progress: an epoch has a speed unless a resume only had to test it") {
  RunFacts facts = progress_facts();
  facts.global_batch = 64;
  EpochRecord epoch;
  epoch.epoch = 2;
  epoch.train_loss = 0.5;
  epoch.train_accuracy = 0.8;
  epoch.test_accuracy = 0.75;
  const std::string tested = "epoch 2/5  train loss 0.5000  accuracy 80.00 %  test accuracy 75.00 %";
  CHECK(render_epoch_line(epoch, facts) == tested);
  epoch.timed_steps = 10;
  epoch.train_seconds = 2.0;
  CHECK(render_epoch_line(epoch, facts) == tested + "  320 images/s");
}

TEST_CASE("progress: the bar never reaches the last column, and drops what is less important first") {
  Progress full = progress_at(100);
  full.seconds_left = 83.4;
  full.test_accuracy = 0.8125;
  struct Row {
    int columns;
    const char* text;
  };
  const Row rows[] = {
      {100,
       "epoch 2/5 [=============>             ]  50%  loss 0.5000  31,234 images/s  test 81.25 %  1:23 left"},
      {70, "epoch 2/5 [====>   ]  50%  loss 0.5000  31,234 images/s  test 81.25 %"},
      {50, "epoch 2/5   50%  loss 0.5000  31,234 images/s"},
      {35, "epoch 2/5   50%  loss 0.5000"},
      {12, "epoch 2/5  "},
      {1, ""},
      {0, ""}};
  for (const Row& row : rows) {
    CAPTURE(row.columns);
    CHECK(render_bar(full, progress_facts(), row.columns) == row.text);
  }
  for (int columns = 0; columns < 200; ++columns) {
    for (const std::size_t step : {0U, 1U, 100U, 200U, 300U}) {
      full.record.step = step;
      CHECK(render_bar(full, progress_facts(), columns).size() <=
            static_cast<std::size_t>(std::max(columns - 1, 0)));
    }
  }
  CHECK(render_bar(progress_at(100), progress_facts(), 60) ==
        "epoch 2/5 [======>     ]  50%  loss 0.5000  31,234 images/s");
}

TEST_CASE("progress: a line for a log, numbers and times") {
  Progress progress = progress_at(100);
  CHECK(render_progress_line(progress, progress_facts()) ==
        "epoch 2/5  step 100/200  loss 0.5000  31,234 images/s");
  progress.test_accuracy = 0.5;
  progress.seconds_left = 3661.0;
  CHECK(render_progress_line(progress, progress_facts()) ==
        "epoch 2/5  step 100/200  loss 0.5000  31,234 images/s  test 50.00 %  1:01:01 left");
  CHECK(render_thousands(1234567) == "1,234,567");
  CHECK(render_thousands(999) == "999");
  CHECK(render_clock(0.4) == "0:00");
  CHECK(render_clock(59.6) == "1:00");
  CHECK(render_clock(-1) == "0:00");
  CHECK(render_clock(7384) == "2:03:04");
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
