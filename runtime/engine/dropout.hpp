// SPDX-License-Identifier: MIT
// Dropout masks from a counter-based generator (the finaliser of SplitMix64 over a key and the index of the
// value), so that any engine and any number of threads compute the same mask without state.
#pragma once

#include "runtime/core/random.hpp"
#include "runtime/engine/engine.hpp"

#include <cstddef>
#include <cstdint>

namespace ddlrun::runtime {

// `layer`: index in Net::layers.
inline std::uint64_t dropout_key(const StepKey& step, std::size_t layer) {
  return mix_seed(mix_seed(mix_seed(step.seed, step.step), step.rank), layer);
}

// Threshold of the generator below which a value is dropped: rate * 2^32.
inline std::uint32_t dropout_limit(double rate) { return static_cast<std::uint32_t>(rate * 4294967296.0); }

// `place`: index of the value in the rank's batch, in plain layout.
inline bool dropout_keeps(std::uint64_t key, std::uint64_t place, std::uint32_t limit) {
  std::uint64_t z = key + (place + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::uint32_t>(z >> 32U) >= limit;
}

}  // namespace ddlrun::runtime
