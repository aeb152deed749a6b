// SPDX-License-Identifier: MIT
#include "runtime/checkpoint/unsaved_steps.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {
namespace {

void train(UnsavedSteps& steps, std::size_t first, std::size_t last) {
  StepRecord record;
  for (record.step = first; record.step <= last; ++record.step) steps.on_step(record);
}

CheckpointRecord checkpoint(std::size_t step, const std::string& problem = "") {
  CheckpointRecord record;
  record.step = step;
  record.problem = problem;
  return record;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/checkpoint/unsaved_steps");

TEST_CASE("a run that ends early: the steps since its newest checkpoint") {
  UnsavedSteps steps("ckpt", "ddl-train --resume");
  steps.on_start(100, 0);
  CHECK_FALSE(steps.describe());
  train(steps, 1, 7);
  REQUIRE(steps.describe());
  CHECK(steps.describe()->what == "the run ends after step 7 of 100; nothing was saved");
  CHECK(steps.describe()->where == "ckpt");
  CHECK(steps.describe()->hint.starts_with("--checkpoint-every N"));
  steps.on_checkpoint(checkpoint(7));
  CHECK_FALSE(steps.describe());
  train(steps, 8, 20);
  steps.on_checkpoint(checkpoint(20, "No space left on device"));  // it was not written
  CHECK(steps.describe()->what == "the run ends after step 20 of 100; nothing was saved since step 7");
  CHECK(steps.describe()->hint == "ddl-train --resume   # goes on from step 7");
}

TEST_CASE("a resumed run has saved what it began with") {
  UnsavedSteps steps("ckpt", "ddl-train --resume");
  steps.on_start(100, 40);
  CHECK_FALSE(steps.describe());
  train(steps, 41, 41);
  CHECK(steps.describe()->what == "the run ends after step 41 of 100; nothing was saved since step 40");
  CHECK(steps.describe()->hint.starts_with("the same command again"));
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
