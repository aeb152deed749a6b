// SPDX-License-Identifier: MIT
// The training loop over any engine and any group of ranks. It neither prints nor writes: an observer is
// told, and a saver keeps what a run needs to go on.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/nets/net.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/training/records.hpp"
#include "runtime/training/schedule.hpp"
#include "runtime/training/step_sums.hpp"
#include "runtime/training/update_rule.hpp"

#include <cstdint>

namespace ddlrun::runtime {

// Sums while the net still computes: as what is tried first turns out faster; in the step; never; also in the
// forward pass of the next step, where rule and engine can (else as `on`).
enum class Overlap { automatic, on, off, across };
// Who updates the weights: the ranks of a host a part each of one copy, or each rank its own copy. A rule
// that needs norms has a copy for each rank.
enum class UpdatePlace { automatic, host, rank };

struct TrainPlan {
  std::size_t epochs = 1;
  std::size_t max_steps = 0;  // 0: no limit
  std::size_t global_batch = 0;
  std::size_t accumulate = 1;       // micro-batches of each rank in a step
  std::size_t steps_per_epoch = 0;  // as the shares of the data give; 0: images / global_batch
  std::size_t test_every = 0;       // steps, beside the test of each epoch; 0: none
  LrSchedule schedule;              // total_steps is filled by train()
  UpdateRule rule;
  std::uint64_t seed = 1;
  Overlap overlap = Overlap::automatic;
  std::size_t bucket_bytes = 0;  // 0: as what is tried first turns out faster
  UpdatePlace update = UpdatePlace::automatic;
  int data_threads = -1;  // LoaderOptions::threads
};

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
  virtual bool stop_wanted() const { return false; }
  // The same answer on all ranks.
  virtual bool due(const TrainPosition&, bool /*epoch_done*/) const { return false; }
  // Collective: called on all ranks, with the same state on all.
  virtual void save(const TrainStateView&, SaveReason) {}
};

// Spans of a whole run. It outlives train(), as the sink's use of the names does.
struct TrainTrace {
  LayerTrace layers;
  SumTrace sums;
  std::string test = "test";
  std::string save = "checkpoint";
};
TrainTrace make_train_trace(TraceSink& sink, const Net& net);

std::size_t total_steps(const TrainPlan& plan, std::size_t images);
std::size_t steps_of_epoch(const TrainPlan& plan, std::size_t images);

// --total-steps: so many steps, over as many epochs as that takes. 0: as the plan is.
void take_exact_steps(TrainPlan& plan, std::size_t steps);

// Throws Error(usage) unless the batch can be cut into micro-batches of equal size on all ranks.
void check_accumulation(const TrainPlan& plan, std::size_t ranks);

// Collective. `start`: where to go on; the position on all ranks, the vectors on rank 0 (of the net's sizes).
// Throws Error if the batch does not fit the ranks or images, AgreedError if a loss or gradient is not finite
// (naming the ranks) or if weights differ between ranks.
TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer);
TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
                   const TrainState* start, const TrainTrace* trace = nullptr);

}  // namespace ddlrun::runtime
