// SPDX-License-Identifier: MIT
// Dropout's masks: a counter-based generator (SplitMix64's finaliser over a key and the value's place), so
// that any engine and any number of threads find the same mask without keeping a state.
#pragma once

#include "runtime/core/random.hpp"
#include "runtime/engine/engine.hpp"

#include <cstddef>
#include <cstdint>

namespace ddlrun::runtime {

// `layer`: its place in Net::layers.
inline std::uint64_t dropout_key(const StepKey& step, std::size_t layer) {
  return mix_seed(mix_seed(mix_seed(step.seed, step.step), step.rank), layer);
}

// Values that fall below it are dropped: rate * 2^32.
inline std::uint32_t dropout_limit(double rate) { return static_cast<std::uint32_t>(rate * 4294967296.0); }

// `place`: of the value in the rank's batch, in plain layout.
inline bool dropout_keeps(std::uint64_t key, std::uint64_t place, std::uint32_t limit) {
  std::uint64_t z = key + (place + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::uint32_t>(z >> 32U) >= limit;
}

}  // namespace ddlrun::runtime
