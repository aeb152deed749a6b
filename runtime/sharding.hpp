// SPDX-License-Identifier: MIT
// Which image goes to which rank in which step. The global batch defines a step: the same images take part in
// step t for every number of ranks, so the loss curve does not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddlrun::runtime {

// The order of the images in one epoch (from 0): the same on all ranks, another one for each epoch and seed.
std::vector<std::uint32_t> epoch_permutation(std::size_t images, std::uint64_t seed, std::uint64_t epoch);

// Images per rank and step. Throws Error(usage) if `global_batch` cannot be divided by `ranks` (naming the
// two nearest that can), Error(request) if it exceeds the images.
std::size_t local_batch(std::size_t global_batch, std::size_t ranks, std::size_t images);

// Steps in one epoch; what does not fill a global batch is left out of this epoch (another rest in the next).
std::size_t steps_per_epoch(std::size_t images, std::size_t global_batch);

// This rank's part of one step, a view into `permutation`.
std::span<const std::uint32_t> step_slice(std::span<const std::uint32_t> permutation,
                                          std::size_t step_in_epoch, std::size_t global_batch,
                                          std::size_t rank, std::size_t ranks);

// A contiguous part of [0, count) for each rank; parts differ by at most one.
struct Range {
  std::size_t begin;
  std::size_t end;
};
Range even_share(std::size_t count, std::size_t rank, std::size_t ranks);

}  // namespace ddlrun::runtime
