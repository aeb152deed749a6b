// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/memory_bandwidth.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::ddl_bench {
namespace {

constexpr std::size_t line_floats = 16;
constexpr std::size_t block_floats = 1024;  // the sums of a block stay in the first cache

// Slices begin on lines of their own, away from each other's sets in the caches.
std::size_t padded(std::size_t floats) {
  return (floats + line_floats - 1) / line_floats * line_floats + 5 * line_floats;
}

[[gnu::always_inline]] inline void add_two(float* a, std::size_t stride, std::size_t block, bool once) {
  float* const b = a + stride;
  float* const used = b + stride;
  if (once) {
#pragma GCC ivdep
    for (std::size_t i = 0; i < block; ++i) used[i] += a[i] + b[i];
    return;
  }
#pragma GCC ivdep
  for (std::size_t i = 0; i < block; ++i) {
    const float sum = a[i] + b[i];
    a[i] = sum;
    b[i] = sum;
  }
}

[[gnu::always_inline]] inline void add_four(float* a, std::size_t stride, std::size_t block, bool once) {
  float* const b = a + stride;
  float* const c = b + stride;
  float* const d = c + stride;
  float* const used = d + stride;
  if (once) {
#pragma GCC ivdep
    for (std::size_t i = 0; i < block; ++i) used[i] += (a[i] + b[i]) + (c[i] + d[i]);
    return;
  }
#pragma GCC ivdep
  for (std::size_t i = 0; i < block; ++i) {
    const float sum = (a[i] + b[i]) + (c[i] + d[i]);
    a[i] = sum;
    b[i] = sum;
    c[i] = sum;
    d[i] = sum;
  }
}

// `Ranks` streams, or any number where it is 0. Compiled for each vector width below.
template <std::size_t Ranks>
[[gnu::always_inline]] inline void sum_streams(float* memory, std::size_t slice, std::size_t count,
                                               bool once) {
  const std::size_t ranks = Ranks == 0 ? count : Ranks;
  const std::size_t stride = padded(slice);
  std::array<float, block_floats> sums;
  for (std::size_t at = 0; at < slice; at += block_floats) {
    const std::size_t block = std::min(block_floats, slice - at);
    float* const first = memory + at;
    if (Ranks == 2) {
      add_two(first, stride, block, once);
      continue;
    }
    if (Ranks == 4) {
      add_four(first, stride, block, once);
      continue;
    }
    std::copy_n(first, block, sums.data());
    for (std::size_t rank = 1; rank < ranks; ++rank)
      for (std::size_t i = 0; i < block; ++i) sums[i] += first[rank * stride + i];
    if (once) {
      float* const used = first + ranks * stride;
      for (std::size_t i = 0; i < block; ++i) used[i] += sums[i];
      continue;
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) std::copy_n(sums.data(), block, first + rank * stride);
  }
}

[[gnu::always_inline]] inline void sum_any(float* memory, std::size_t slice, std::size_t ranks, bool once) {
  if (ranks == 2) return sum_streams<2>(memory, slice, ranks, once);
  if (ranks == 4) return sum_streams<4>(memory, slice, ranks, once);
  sum_streams<0>(memory, slice, ranks, once);
}

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]] void sum_avx512(float* memory, std::size_t slice,
                                                                            std::size_t ranks, bool once) {
  sum_any(memory, slice, ranks, once);
}
[[gnu::target("avx2")]] void sum_avx2(float* memory, std::size_t slice, std::size_t ranks, bool once) {
  sum_any(memory, slice, ranks, once);
}
#endif
void sum_plain(float* memory, std::size_t slice, std::size_t ranks, bool once) {
  sum_any(memory, slice, ranks, once);
}

}  // namespace

MemoryBandwidth::MemoryBandwidth(std::size_t bytes, int ranks, bool once)
    : slice_(std::max<std::size_t>(bytes / sizeof(float) / static_cast<std::size_t>(ranks), 1)),
      ranks_(static_cast<std::size_t>(ranks)),
      once_(once),
      memory_(padded(slice_) * (ranks_ + (once ? 1 : 0)) + line_floats, 0.0F) {}

void MemoryBandwidth::pass() {
  float* const start = memory_.data();
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    return sum_avx512(start, slice_, ranks_, once_);
  if (__builtin_cpu_supports("avx2")) return sum_avx2(start, slice_, ranks_, once_);
#endif
  sum_plain(start, slice_, ranks_, once_);
}

}  // namespace ddlrun::ddl_bench
