// SPDX-License-Identifier: MIT
#include "runtime/data/sharding.hpp"

#include "base/text/error.hpp"
#include "runtime/core/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace ddlrun::runtime {

std::vector<std::uint32_t> epoch_permutation(std::size_t images, std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::uint32_t> order(images);
  std::iota(order.begin(), order.end(), 0U);
  Random random(mix_seed(seed, 1'000'000 + epoch));
  for (std::size_t i = images; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

std::size_t local_batch(std::size_t global_batch, std::size_t ranks, std::size_t images) {
  if (global_batch == 0 || global_batch % ranks != 0) {
    const std::size_t below = global_batch - global_batch % ranks;
    const std::string legal =
        below == 0 ? fmt::format("{}", ranks) : fmt::format("{} or {}", below, below + ranks);
    throw Error(ErrorKind::usage,
                {fmt::format("a global batch of {} cannot be divided by {} ranks; the nearest that can: {}",
                             global_batch, ranks, legal),
                 "--global-batch", fmt::format("--global-batch {}", below == 0 ? ranks : below)});
  }
  if (global_batch > images) {
    const std::size_t most = images - images % ranks;
    throw Error(
        ErrorKind::request,
        {fmt::format("a global batch of {} exceeds the {} training images", global_batch, images),
         fmt::format("{} ranks of {} images each", ranks, global_batch / ranks),
         most == 0 ? fmt::format("mpirun -n {} ddl-train", images) : fmt::format("--global-batch {}", most)});
  }
  return global_batch / ranks;
}

std::size_t steps_per_epoch(std::size_t images, std::size_t global_batch) { return images / global_batch; }

std::span<const std::uint32_t> step_slice(std::span<const std::uint32_t> permutation,
                                          std::size_t step_in_epoch, std::size_t global_batch,
                                          std::size_t rank, std::size_t ranks) {
  const std::size_t local = global_batch / ranks;
  return permutation.subspan(step_in_epoch * global_batch + rank * local, local);
}

DataShard::DataShard(Subsets split, std::size_t global_batch, std::uint64_t seed)
    : subsets_(std::move(split)), global_batch_(global_batch), seed_(seed) {
  std::size_t ranks = 0;
  for (const Subset& subset : subsets_.subsets) ranks += subset.ranks;
  local_ = ddlrun::runtime::local_batch(global_batch, ranks, train_images());
  steps_ = SIZE_MAX;
  for (const Subset& subset : subsets_.subsets) {
    steps_ = std::min(steps_, subset.train_images / (local_ * subset.ranks));
    if (steps_ > 0) continue;
    throw Error(
        ErrorKind::request,
        {fmt::format("this subset has {} training images, but {} ranks of {} images each need {} per step",
                     subset.train_images, subset.ranks, local_, local_ * subset.ranks),
         subset.name, fmt::format("--global-batch {}", subset.train_images / subset.ranks * ranks)});
  }
}

std::size_t DataShard::train_images() const {
  std::size_t count = 0;
  for (const Subset& subset : subsets_.subsets) count += subset.train_images;
  return count;
}

std::size_t DataShard::test_images() const {
  std::size_t count = 0;
  for (const Subset& subset : subsets_.subsets) count += subset.test_images;
  return count;
}

std::size_t DataShard::dropped_images() const { return train_images() - steps_ * global_batch_; }

std::span<const std::uint32_t> DataShard::step(std::size_t epoch, std::size_t step_in_epoch) {
  if (epoch != ordered_epoch_) {
    order_ = epoch_permutation(mine().train_images, seed_, epoch);
    ordered_epoch_ = epoch;
  }
  const std::size_t ranks = mine().ranks;
  return step_slice(order_, step_in_epoch, local_ * ranks, subsets_.rank_in_subset, ranks);
}

Range DataShard::test_range() const {
  return even_chunk(mine().test_images, subsets_.rank_in_subset, mine().ranks);
}

}  // namespace ddlrun::runtime
