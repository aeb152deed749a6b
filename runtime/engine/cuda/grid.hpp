// SPDX-License-Identifier: MIT
// How kernels walk over items: a grid that fits the GPU, each thread taking every so many-th item.
#pragma once

#include "runtime/engine/cuda/check.hpp"

#include <algorithm>
#include <cstddef>

namespace ddlrun::runtime::gpu {

constexpr unsigned block_size = 256;

inline unsigned blocks_for(std::size_t items) {
  constexpr std::size_t most = 4096;
  return static_cast<unsigned>(std::clamp<std::size_t>((items + block_size - 1) / block_size, 1, most));
}

inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

#ifdef __CUDACC__
__device__ inline std::size_t first_item() {
  return blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
}
__device__ inline std::size_t item_stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }
#endif

}  // namespace ddlrun::runtime::gpu
