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

// Keeps nothing and never stops, unless derived from.
class TrainSaver {
 public:
  virtual ~TrainSaver() = default;
  // Asked on each rank before it adds up with the others: if one says yes, all save and end after this step.
  virtual bool stop_requested() const { return false; }
  // The same answer on all ranks.
  virtual bool due(const TrainPosition&, bool /*epoch_done*/) const { return false; }
  // Collective: called on all ranks, with the same state on all.
  virtual void save(const TrainStateView&, SaveReason) {}
};

}  // namespace ddlrun::runtime
