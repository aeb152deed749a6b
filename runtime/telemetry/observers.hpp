// SPDX-License-Identifier: MIT
// Forward calls to several observers or trace sinks.
#pragma once

#include "runtime/core/trace.hpp"
#include "runtime/training/observer.hpp"

#include <vector>

namespace ddlrun::runtime {

class ObserverFanout : public TrainObserver {
 public:
  void add(TrainObserver& observer) { observers_.push_back(&observer); }

  void on_start(std::size_t total_steps, std::size_t first_step) override {
    for (TrainObserver* each : observers_) each->on_start(total_steps, first_step);
  }
  void on_step(const StepRecord& record) override {
    for (TrainObserver* each : observers_) each->on_step(record);
  }
  void on_test(const TestRecord& record) override {
    for (TrainObserver* each : observers_) each->on_test(record);
  }
  void on_epoch(const EpochRecord& record) override {
    for (TrainObserver* each : observers_) each->on_epoch(record);
  }
  void on_checkpoint(const CheckpointRecord& record) override {
    for (TrainObserver* each : observers_) each->on_checkpoint(record);
  }

 private:
  std::vector<TrainObserver*> observers_;
};

class TraceFanout : public TraceSink {
 public:
  void add(TraceSink& sink) { sinks_.push_back(&sink); }

  void span(TraceLane lane, std::string_view name, TraceClock::time_point begin, TraceClock::time_point end,
            std::uint64_t bytes = 0) override {
    for (TraceSink* each : sinks_) each->span(lane, name, begin, end, bytes);
  }

 private:
  std::vector<TraceSink*> sinks_;
};

}  // namespace ddlrun::runtime
