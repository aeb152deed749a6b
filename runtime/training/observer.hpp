// SPDX-License-Identifier: MIT
// Interfaces through which the trainer reports its progress and saves its state.
#pragma once

#include "runtime/training/records.hpp"

namespace ddlrun::runtime {

class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void on_start(std::size_t total_steps, std::size_t first_step) {
    (void)total_steps;
    (void)first_step;
  }
  virtual void on_step(const StepRecord& record) { (void)record; }
  virtual void on_test(const TestRecord& record) { (void)record; }
  virtual void on_epoch(const EpochRecord& record) { (void)record; }
  virtual void on_checkpoint(const CheckpointRecord& record) { (void)record; }
};

// Saves the state of a run. This base class saves nothing and never stops the run.
class TrainSaver {
 public:
  virtual ~TrainSaver() = default;
  // Called on each rank before it reduces a step; if any rank returns true, all ranks save and stop after
  // this step.
  virtual bool stop_requested() const { return false; }
  // Whether to save now; returns the same on all ranks.
  virtual bool due(const TrainPosition&, bool /*epoch_done*/) const { return false; }
  // Collective; the state is the same on all ranks.
  virtual void save(const TrainStateView&, SaveReason) {}
};

}  // namespace ddlrun::runtime
