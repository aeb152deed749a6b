// SPDX-License-Identifier: MIT
// The training loop over any engine and any group of ranks. It neither prints nor writes: an observer is
// told, and a saver keeps what a run needs to go on.
#pragma once

#include "runtime/communicator.hpp"
#include "runtime/dataset.hpp"
#include "runtime/engine.hpp"
#include "runtime/net.hpp"
#include "runtime/schedule.hpp"
#include "runtime/sgd.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

// Where a run stands between two steps, and what it has seen of its epoch.
struct TrainPosition {
  std::size_t step = 0;           // done
  std::size_t epoch = 1;          // the one it is in
  std::size_t step_in_epoch = 0;  // done; at most a whole epoch, if that has not been tested yet
  std::size_t tested_step = 0;    // done when the test images were last asked
  double loss_sum = 0.0;          // of the epoch's steps
  double correct_sum = 0.0;
  EpochRecord last;  // the last epoch that was tested
};

// All that a run needs to go on; as views, and with vectors of its own.
struct TrainStateView {
  TrainPosition position;
  std::span<const float> parameters;
  std::span<const float> velocity;
  std::span<const float> layer_state;
};
struct TrainState {
  TrainPosition position;
  std::vector<float> parameters;
  std::vector<float> velocity;
  std::vector<float> layer_state;
};

enum class SaveReason { due, stop, end };

// One that was written, or could not be: then `problem` says why.
struct CheckpointRecord {
  std::string path;
  std::size_t step = 0;
  std::size_t epoch = 0;
  std::uint64_t bytes = 0;
  double seconds = 0.0;
  SaveReason reason = SaveReason::due;
  std::string problem;
};

struct TrainSummary {
  std::size_t steps = 0;       // with those before a resume
  std::size_t first_step = 0;  // where this run began
  std::size_t total_steps = 0;
  bool stopped = false;  // saved and ended early, because some rank wanted it
  EpochRecord last;
  double train_seconds = 0.0;
  double comm_seconds = 0.0;
  double images_per_second = 0.0;
  std::uint64_t weights_hash = 0;  // compared on all ranks after each epoch
};

class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void on_start(std::size_t total_steps, std::size_t first_step) {
    (void)total_steps;
    (void)first_step;
  }
  virtual void on_step(const StepRecord& record) { (void)record; }
  virtual void on_epoch(const EpochRecord& record) { (void)record; }
  virtual void on_checkpoint(const CheckpointRecord& record) { (void)record; }
};

// Keeps nothing and never stops, unless derived from.
class TrainSaver {
 public:
  virtual ~TrainSaver() = default;
  // Asked on each rank before it adds up with the others: if one says yes, all save and end after this step.
  virtual bool stop_wanted() const { return false; }
  // The same answer on all ranks.
  virtual bool due(const TrainPosition&, bool /*epoch_done*/) const { return false; }
  // Collective: called on all ranks, with the same state on all.
  virtual void save(const TrainStateView&, SaveReason) {}
};

std::size_t total_steps(const TrainPlan& plan, std::size_t images);

// Collective. `start`: where to go on; the position on all ranks, the vectors on rank 0 (of the net's sizes).
// Throws Error if the batch does not fit the ranks or images, AgreedError if a loss or gradient is not finite
// (naming the ranks) or if weights differ between ranks.
TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer);
TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
                   const TrainState* start);

}  // namespace ddlrun::runtime
