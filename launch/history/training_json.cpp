// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "launch/history/training.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ddlrun::launch {

namespace {

using MetricsLine = nlohmann::json;

void take_record(const MetricsLine& record, Training& training) {
  const std::string type = record.value("type", "");
  const auto number = [&](const char* name) { return record.at(name).get<double>(); };
  if (type == "config") {
    training.known = record.value("schema", "") == "ddlrun.train.metrics/1";
    training.net = record.value("net", "");
    training.data = record.value("data", "");
  } else if (type == "resume") {  // from a checkpoint: what came after it was lost, and is done again
    const double step = number("step");
    std::erase_if(training.steps, [&](const TrainingStep& each) { return each.step > step; });
    std::erase_if(training.epochs, [&](const TrainingEpoch& each) { return each.step > step; });
  } else if (type == "step") {
    training.steps.push_back({number("step"), number("loss"), number("images_s")});
  } else if (type == "epoch") {
    const double step = training.steps.empty() ? 0.0 : training.steps.back().step;
    training.epochs.push_back(
        {number("epoch"), step, number("train_loss"), number("test_loss"), number("test_accuracy")});
  }
}

}  // namespace

void take_metrics_line(std::string_view line, Training& training) {
  if (line.empty()) return;
  const MetricsLine record = MetricsLine::parse(line, nullptr, false);
  if (!record.is_object()) {
    ++training.damaged_lines;
    return;
  }
  try {
    take_record(record, training);
  } catch (const MetricsLine::exception&) {  // a loss of null is one that is no number: nan, inf
    ++training.damaged_lines;
  }
}

std::optional<double> last_test_accuracy(std::string_view lines) {
  Training training;
  for (const std::string_view line : split(lines, '\n')) take_metrics_line(line, training);
  if (training.epochs.empty()) return std::nullopt;
  return training.epochs.back().test_accuracy;
}

std::vector<TrainingStep> thin_out(const std::vector<TrainingStep>& steps, std::size_t most) {
  if (steps.size() <= most || most == 0) return steps;
  std::vector<TrainingStep> thin;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t from = i * steps.size() / most, to = (i + 1) * steps.size() / most;
    TrainingStep mean;
    for (std::size_t j = from; j < to; ++j) {
      mean.step += steps[j].step;
      mean.loss += steps[j].loss;
      mean.images_per_second += steps[j].images_per_second;
    }
    const auto count = static_cast<double>(to - from);
    thin.push_back({mean.step / count, mean.loss / count, mean.images_per_second / count});
  }
  return thin;
}

}  // namespace ddlrun::launch
