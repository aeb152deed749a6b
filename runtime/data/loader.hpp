// SPDX-License-Identifier: MIT
// Batches as floats, made by threads of its own while the net computes. The loop of a trainer:
//
//   Loader loader(*data.train_images, data.transform, LoadPurpose::training, local_batch, options);
//   loader.prefetch(indices of step 1, {seed, 0});
//   for each step:
//     const LoadedBatch batch = loader.take();      // waits for batch.waited_seconds
//     loader.prefetch(indices of the step after, {seed, step + 1});
//     ... compute with batch.images, batch.labels   // valid until the next take()
//
// Two batches exist at most: the one taken and the one ahead. Images that lie in memory are converted by
// take() itself, which is faster than waking a thread.
#pragma once

#include "runtime/core/trace.hpp"
#include "runtime/data/image_source.hpp"
#include "runtime/data/transform.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ddlrun::runtime {

enum class LoadPurpose {
  training,  // random crops and mirrors
  testing,   // the middle, as it is
};

// Seeds of random crops and mirrors, together with the index of the image. `step` counts from 0 over the
// whole run; micro-batches of a step may share it, because no image occurs twice in a step.
struct LoadKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

struct LoaderOptions {
  int threads = -1;            // -1: none for images in memory, else 1; 0: take() does the work itself
  TraceSink* trace = nullptr;  // spans "load" and "wait for images" in lane input
};

struct LoadedBatch {
  std::span<const float> images;  // one after the other, transform.output(source.shape()) each
  std::span<const Label> labels;
  double waited_seconds = 0.0;  // in take(), the work it did itself included
};

class Loader {
 public:
  // `source` and `trace` must outlive it. Throws Error(request) if the transform does not fit the images.
  Loader(const ImageSource& source, Transform transform, LoadPurpose purpose, std::size_t largest_batch,
         const LoaderOptions& options = {});
  // Cancels prefetching; waits only for the image in work.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Starts loading 1 to `largest_batch` images; copies `indices`. At most one batch ahead: call take() first.
  void prefetch(std::span<const std::uint32_t> indices, const LoadKey& key);
  bool ahead() const;
  // Waits for the oldest batch. Rethrows an error of reading; of several, that of the first image.
  LoadedBatch take();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace ddlrun::runtime
