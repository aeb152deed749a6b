// SPDX-License-Identifier: MIT
#include "runtime/training/batch_loader.hpp"

#include <utility>

namespace ddlrun::runtime {

BatchFeed::BatchFeed(const Dataset& data, Shares shares, const FeedPlan& plan, const TrainPosition& start)
    : shares_(std::move(shares)),
      plan_(plan),
      step_(start.step),
      epoch_(start.epoch - 1),
      step_in_epoch_(start.step_in_epoch),
      loader_(*data.train_images, data.transform, LoadPurpose::training, shares_.local_batch() / plan.parts,
              plan.loading) {
  if (step_in_epoch_ == shares_.steps_per_epoch()) {  // saved before its test
    ++epoch_;
    step_in_epoch_ = 0;
  }
  begin_ahead();
}

LoadedBatch BatchFeed::next() {
  const LoadedBatch batch = loader_.take();
  if (++part_ == plan_.parts) {
    part_ = 0;
    ++step_;
    if (++step_in_epoch_ == shares_.steps_per_epoch()) {
      ++epoch_;
      step_in_epoch_ = 0;
    }
  }
  begin_ahead();
  return batch;
}

void BatchFeed::begin_ahead() {
  if (step_ >= plan_.total_steps) return;
  const std::size_t count = shares_.local_batch() / plan_.parts;
  loader_.prefetch(shares_.step(epoch_, step_in_epoch_).subspan(part_ * count, count), {plan_.seed, step_});
}

}  // namespace ddlrun::runtime
