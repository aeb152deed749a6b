// SPDX-License-Identifier: MIT
// Progress on stderr: a bar on a terminal, else a line every ten seconds. No colours, so NO_COLOR has no
// effect.
#pragma once

#include "runtime/telemetry/metrics.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace ddlrun::runtime {

// Values of one progress update.
struct Progress {
  StepRecord record;
  double images_per_second = 0.0;
  std::optional<double> seconds_left;
  std::optional<double> test_accuracy;  // of the last test
};

// Pure: "epoch 2/5 [=====>    ]  45%  loss 0.4512  31,200 images/s  test 81.25 %  1:23 left". Less than
// `columns` wide: first drops the bar, then fields from the right.
std::string render_bar(const Progress& progress, const RunFacts& facts, int columns);
// Pure: the same for a log, with step numbers.
std::string render_progress_line(const Progress& progress, const RunFacts& facts);

// Pure: the line of a whole epoch; without a speed where a resume only had to test it.
std::string render_epoch_line(const EpochRecord& record, const RunFacts& facts);

// 31234.5 -> "31,235".
std::string render_thousands(double value);
// 83.4 -> "1:23", 7384 -> "2:03:04".
std::string render_clock(double seconds);

// Observer of rank 0: writes the metrics file and the progress.
class ProgressReporter : public TrainObserver {
 public:
  ProgressReporter(const RunFacts& facts, MetricsFile& metrics, bool quiet);

  void on_start(std::size_t total_steps, std::size_t first_step) override;
  void on_step(const StepRecord& record) override;
  void on_test(const TestRecord& record) override;
  void on_epoch(const EpochRecord& record) override;
  void on_checkpoint(const CheckpointRecord& record) override;

 private:
  using Clock = std::chrono::steady_clock;
  void show(const StepRecord& record, Clock::time_point now);
  void clear_bar();

  const RunFacts& facts_;
  MetricsFile& metrics_;
  bool quiet_;
  bool terminal_;
  bool bar_shown_ = false;
  Clock::time_point start_;
  Clock::time_point last_show_;
  std::size_t first_step_ = 0;
  std::size_t last_step_ = 0;
  std::optional<double> test_accuracy_;
};

}  // namespace ddlrun::runtime
