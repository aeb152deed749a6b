// SPDX-License-Identifier: MIT
// What the bundled trainer wrote while it ran (--metrics FILE, "ddlrun.train.metrics/1"): the curves. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

struct TrainingStep {
  double step = 0, loss = 0, images_per_second = 0;
};

struct TrainingEpoch {
  double epoch = 0, step = 0;  // the last step before it
  double train_loss = 0, test_loss = 0, test_accuracy = 0;
};

struct Training {
  std::string net, data;
  std::vector<TrainingStep> steps;
  std::vector<TrainingEpoch> epochs;
  std::size_t damaged_lines = 0;
  bool known = false;  // its first record is the trainer's
};

// Takes one line; what is no record counts as damaged. Lines behind the first of another program count too.
void take_metrics_line(std::string_view line, Training& training);

// Of the last epoch in the last lines of a file of metrics; the first line may be a part of one.
std::optional<double> last_test_accuracy(std::string_view lines);

// At most `most` steps: the means of equal stretches.
std::vector<TrainingStep> thin_out(const std::vector<TrainingStep>& steps, std::size_t most);

}  // namespace ddlrun::launch
