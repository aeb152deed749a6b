// SPDX-License-Identifier: MIT
// Loops over large vectors on the OpenMP threads of the caller.
#pragma once

#include "runtime/core/range.hpp"

#include <omp.h>

#include <algorithm>
#include <cstddef>

namespace ddlrun::runtime {

inline constexpr std::size_t min_parallel_chunk = 65536;  // elements: the start of threads costs some us
inline constexpr std::size_t chunk_unit = 4096;           // chunks begin at multiples of it

// Whether `work(Range)` is true for each chunk of [0, count). Each thread has one chunk; no call may throw.
template <typename Work>
bool all_chunks(std::size_t count, const Work& work) {
  const auto most = static_cast<std::size_t>(omp_get_max_threads());
  const std::size_t chunks = std::min(most, count / min_parallel_chunk);
  if (chunks < 2) return work(Range{0, count});
  bool all = true;
#pragma omp parallel for num_threads(static_cast <int>(chunks)) schedule(static) reduction(&& : all)
  for (std::size_t i = 0; i < chunks; ++i) {
    const Range units = even_chunk((count + chunk_unit - 1) / chunk_unit, i, chunks);
    all = work(Range{units.begin * chunk_unit, std::min(units.end * chunk_unit, count)}) && all;
  }
  return all;
}

}  // namespace ddlrun::runtime
