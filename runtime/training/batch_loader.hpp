// SPDX-License-Identifier: MIT
// Loads the training images of this rank, one micro-batch after the other and one ahead, from the start
// position of a run to its last step.
#pragma once

#include "runtime/data/dataset.hpp"
#include "runtime/data/loader.hpp"
#include "runtime/training/records.hpp"

#include <cstddef>
#include <cstdint>

namespace ddlrun::runtime {

struct BatchLoaderPlan {
  std::uint64_t seed = 1;
  std::size_t total_steps = 0;
  std::size_t parts = 1;  // micro-batches of a step
  LoaderOptions loading;
};

class BatchLoader {
 public:
  // `data` must outlive it.
  BatchLoader(const Dataset& data, DataShard shard, const BatchLoaderPlan& plan, const TrainPosition& start);

  // The next micro-batch; valid until the following call.
  LoadedBatch next();

 private:
  void prefetch_next();

  DataShard shard_;
  BatchLoaderPlan plan_;
  std::size_t step_;  // of the batch that is loaded ahead
  std::size_t epoch_;
  std::size_t step_in_epoch_;
  std::size_t part_ = 0;
  Loader loader_;
};

}  // namespace ddlrun::runtime
