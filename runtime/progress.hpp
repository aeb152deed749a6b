// SPDX-License-Identifier: MIT
// What a person sees on stderr while a run goes on: a bar on a terminal, else a line every ten seconds.
#pragma once

#include "runtime/metrics.hpp"

#include <chrono>
#include <string>

namespace ddlrun::runtime {

// Pure: "epoch 2/5 [=====>    ]  45%  loss 0.4512  31,200 images/s", at most `columns` wide.
std::string render_bar(const StepRecord& record, const RunFacts& facts, double images_per_second,
                       int columns);

// 31234.5 -> "31,235".
std::string render_thousands(double value);

// Rank 0's observer: tells the metrics file and the person.
class Reporter : public TrainObserver {
 public:
  Reporter(const RunFacts& facts, MetricsFile& metrics, bool quiet);

  void on_start(std::size_t total_steps, std::size_t first_step) override;
  void on_step(const StepRecord& record) override;
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
  std::size_t last_step_ = 0;
};

}  // namespace ddlrun::runtime
