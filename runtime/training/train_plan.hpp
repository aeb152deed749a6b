// SPDX-License-Identifier: MIT
// What a training does: length, batch, learning rate, optimizer, and how gradients are reduced.
#pragma once

#include "runtime/training/lr_schedule.hpp"
#include "runtime/training/optimizer.hpp"

#include <cstddef>
#include <cstdint>

namespace ddlrun::runtime {

// When gradients are reduced: on: during the backward pass; off: after it; across: also during the next
// step's forward pass, if optimizer and engine support it (else as `on`); automatic: the fastest in the first
// steps.
enum class Overlap { automatic, on, off, across };
// Who updates the weights: host: the ranks of a host share one copy, and each updates a part; rank: each rank
// updates its own copy. An optimizer that needs norms always has one copy per rank.
enum class OptimizerPlacement { automatic, host, rank };

struct TrainPlan {
  std::size_t epochs = 1;
  std::size_t max_steps = 0;  // 0: no limit
  std::size_t global_batch = 0;
  std::size_t accumulate = 1;       // micro-batches of each rank in a step
  std::size_t steps_per_epoch = 0;  // from the data shards; 0: images / global_batch
  std::size_t test_every = 0;       // steps between tests within an epoch; 0: none
  LrSchedule schedule;              // total_steps is filled by train()
  Optimizer optimizer;
  std::uint64_t seed = 1;
  Overlap overlap = Overlap::automatic;
  std::size_t bucket_bytes = 0;  // 0: the fastest in the first steps
  OptimizerPlacement placement = OptimizerPlacement::automatic;
  int data_threads = -1;  // LoaderOptions::threads
};

std::size_t total_steps(const TrainPlan& plan, std::size_t images);
std::size_t steps_of_epoch(const TrainPlan& plan, std::size_t images);

// For --total-steps: sets the exact number of steps and the epochs that it takes. 0: leaves the plan
// unchanged.
void set_total_steps(TrainPlan& plan, std::size_t steps);

// Gradients are not clipped, and could be: their norm needs all sums on each rank before a step ends.
bool clips_no_gradients(const TrainPlan& plan);

// Throws Error(usage) unless the batch can be split into micro-batches of equal size on all ranks.
void check_accumulation(const TrainPlan& plan, std::size_t ranks);

}  // namespace ddlrun::runtime
