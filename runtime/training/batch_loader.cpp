// SPDX-License-Identifier: MIT
#include "runtime/training/batch_loader.hpp"

#include <utility>

namespace ddlrun::runtime {

BatchLoader::BatchLoader(const Dataset& data, DataShard shard, const BatchLoaderPlan& plan,
                         const TrainPosition& start)
    : shard_(std::move(shard)),
      plan_(plan),
      step_(start.step),
      epoch_(start.epoch - 1),
      step_in_epoch_(start.step_in_epoch),
      loader_(*data.train_images, data.transform, LoadPurpose::training, shard_.local_batch() / plan.parts,
              plan.loading) {
  if (step_in_epoch_ == shard_.steps_per_epoch()) {  // saved before its test
    ++epoch_;
    step_in_epoch_ = 0;
  }
  prefetch_next();
}

LoadedBatch BatchLoader::next() {
  const LoadedBatch batch = loader_.take();
  if (++part_ == plan_.parts) {
    part_ = 0;
    ++step_;
    if (++step_in_epoch_ == shard_.steps_per_epoch()) {
      ++epoch_;
      step_in_epoch_ = 0;
    }
  }
  prefetch_next();
  return batch;
}

void BatchLoader::prefetch_next() {
  if (step_ >= plan_.total_steps) return;
  const std::size_t count = shard_.local_batch() / plan_.parts;
  loader_.prefetch(shard_.step(epoch_, step_in_epoch_).subspan(part_ * count, count), {plan_.seed, step_});
}

}  // namespace ddlrun::runtime
