// SPDX-License-Identifier: MIT
// Assigns images to ranks and steps. The global batch defines a step: the same images are in step t for any
// number of ranks, so the loss curve does not depend on it.
#pragma once

#include "runtime/core/range.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// The order of the images in an epoch (from 0): the same on all ranks, different for each epoch and seed.
std::vector<std::uint32_t> epoch_permutation(std::size_t images, std::uint64_t seed, std::uint64_t epoch);

// Images per rank and step. Throws Error(usage) if `global_batch` is not divisible by `ranks` (with the two
// nearest that are), Error(request) if it exceeds `images`.
std::size_t local_batch(std::size_t global_batch, std::size_t ranks, std::size_t images);

// Steps in one epoch. Images that do not fill a global batch are dropped from this epoch (different ones in
// the next).
std::size_t steps_per_epoch(std::size_t images, std::size_t global_batch);

// The images of one rank in one step, a view into `permutation`.
std::span<const std::uint32_t> step_slice(std::span<const std::uint32_t> permutation,
                                          std::size_t step_in_epoch, std::size_t global_batch,
                                          std::size_t rank, std::size_t ranks);

// Images that a group of ranks shares: all ranks the whole data set, or the ranks of a host their own.
struct Subset {
  std::size_t train_images = 0;
  std::size_t test_images = 0;
  std::size_t ranks = 1;
  std::string name;  // for messages: the host; "" for the whole data set
};
struct Subsets {
  std::vector<Subset> subsets;
  std::size_t subset = 0;          // of this rank
  std::size_t rank_in_subset = 0;  // of its ranks
};

// The images that one rank trains on and tests, as indices into its own sources. Each rank takes an equal
// share of each global batch, so the subset that is exhausted first ends the epoch.
class DataShard {
 public:
  // Throws as local_batch(), and Error(request) if a subset is too small for one step.
  DataShard(Subsets split, std::size_t global_batch, std::uint64_t seed);

  std::size_t local_batch() const { return local_; }
  std::size_t steps_per_epoch() const { return steps_; }
  std::size_t train_images() const;  // of all subsets
  std::size_t test_images() const;
  std::size_t dropped_images() const;  // of the training images, in each epoch

  // `epoch` counts from 0. The view is valid until a call with another epoch.
  std::span<const std::uint32_t> step(std::size_t epoch, std::size_t step_in_epoch);
  Range test_range() const;

 private:
  const Subset& mine() const { return subsets_.subsets[subsets_.subset]; }

  Subsets subsets_;
  std::size_t global_batch_;
  std::uint64_t seed_;
  std::size_t local_ = 0;
  std::size_t steps_ = 0;
  std::size_t ordered_epoch_ = SIZE_MAX;
  std::vector<std::uint32_t> order_;
};

}  // namespace ddlrun::runtime
