// SPDX-License-Identifier: MIT
// Random numbers that are the same on every machine (std distributions differ between libraries).
#pragma once

#include <cstdint>

namespace ddlrun::runtime {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  // [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  // [0, bound), without bias; bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    std::uint64_t value = next();
    while (value >= limit) value = next();
    return value % bound;
  }

 private:
  std::uint64_t state_;
};

// One seed for each (seed, stream) pair, far apart even for neighbours.
inline std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t stream) {
  return Random(Random(seed).next() ^ (stream * 0xd1342543de82ef95U)).next();
}

}  // namespace ddlrun::runtime
