// SPDX-License-Identifier: MIT
// What a training does: length, batch, learning rate, optimizer, and how gradients are reduced.
#pragma once

#include "runtime/training/lr_schedule.hpp"
#include "runtime/training/optimizer.hpp"

#include <cstddef>
#include <cstdint>

namespace ddlrun::runtime {

// Sums while the net still computes: as what is tried first turns out faster; in the step; never; also in the
// forward pass of the next step, where optimizer and engine can (else as `on`).
enum class Overlap { automatic, on, off, across };
// Who updates the weights: the ranks of a host a part each of one copy, or each rank its own copy. A
// optimizer that needs norms has a copy for each rank.
enum class OptimizerPlacement { automatic, host, rank };

struct TrainPlan {
  std::size_t epochs = 1;
  std::size_t max_steps = 0;  // 0: no limit
  std::size_t global_batch = 0;
  std::size_t accumulate = 1;       // micro-batches of each rank in a step
  std::size_t steps_per_epoch = 0;  // as the shard of the data give; 0: images / global_batch
  std::size_t test_every = 0;       // steps, beside the test of each epoch; 0: none
  LrSchedule schedule;              // total_steps is filled by train()
  Optimizer optimizer;
  std::uint64_t seed = 1;
  Overlap overlap = Overlap::automatic;
  std::size_t bucket_bytes = 0;  // 0: as what is tried first turns out faster
  OptimizerPlacement placement = OptimizerPlacement::automatic;
  int data_threads = -1;  // LoaderOptions::threads
};

std::size_t total_steps(const TrainPlan& plan, std::size_t images);
std::size_t steps_of_epoch(const TrainPlan& plan, std::size_t images);

// --total-steps: so many steps, over as many epochs as that takes. 0: as the plan is.
void set_total_steps(TrainPlan& plan, std::size_t steps);

// Throws Error(usage) unless the batch can be cut into micro-batches of equal size on all ranks.
void check_accumulation(const TrainPlan& plan, std::size_t ranks);

}  // namespace ddlrun::runtime
