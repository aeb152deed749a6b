// SPDX-License-Identifier: MIT
// The training loop over any engine and any group of ranks. It neither prints nor writes: an observer is
// told.
#pragma once

#include "runtime/communicator.hpp"
#include "runtime/dataset.hpp"
#include "runtime/engine.hpp"
#include "runtime/net.hpp"
#include "runtime/schedule.hpp"
#include "runtime/sgd.hpp"

#include <cstdint>

namespace ddlrun::runtime {

struct TrainPlan {
  std::size_t epochs = 1;
  std::size_t max_steps = 0;  // 0: no limit
  std::size_t global_batch = 0;
  LrSchedule schedule;  // total_steps is filled by train()
  SgdRule rule;
  std::uint64_t seed = 1;
};

// Steps and epochs count from 1; losses are averages over the global batch, times are of this rank.
struct StepRecord {
  std::size_t step = 0;
  std::size_t epoch = 0;
  double loss = 0.0;
  double lr = 0.0;
  double step_seconds = 0.0;
  double comm_seconds = 0.0;
};

struct EpochRecord {
  std::size_t epoch = 0;
  std::size_t steps = 0;        // done in this epoch
  double train_loss = 0.0;      // mean over its steps
  double train_accuracy = 0.0;  // while training
  double test_loss = 0.0;
  double test_accuracy = 0.0;
  double train_seconds = 0.0;  // without the test
};

struct TrainSummary {
  std::size_t steps = 0;
  std::size_t total_steps = 0;
  EpochRecord last;
  double train_seconds = 0.0;
  double comm_seconds = 0.0;
  double images_per_second = 0.0;
  std::uint64_t weights_hash = 0;  // compared on all ranks after each epoch
};

class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void on_start(std::size_t total_steps) { (void)total_steps; }
  virtual void on_step(const StepRecord& record) { (void)record; }
  virtual void on_epoch(const EpochRecord& record) { (void)record; }
};

std::size_t total_steps(const TrainPlan& plan, std::size_t images);

// Collective. Throws Error if the batch does not fit the ranks or images, AgreedError if a loss or gradient
// is not finite (naming the ranks) or if weights differ between ranks.
TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer);

}  // namespace ddlrun::runtime
