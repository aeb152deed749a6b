// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/grid.hpp"
#include "runtime/engine/cuda/kernels.hpp"

#include <cmath>

namespace ddlrun::runtime::gpu {
namespace {

// One output's window inside the image, and its count with padding.
struct Window {
  int top, left, bottom, right, counted;
};

__device__ Window window_of(const PoolGeometry& g, int y, int x) {
  const int top = y * g.stride.height - g.padding.height;
  const int left = x * g.stride.width - g.padding.width;
  const int bottom = min(top + g.kernel.height, g.height + g.padding.height);
  const int right = min(left + g.kernel.width, g.width + g.padding.width);
  return {max(top, 0), max(left, 0), min(bottom, g.height), min(right, g.width),
          (bottom - top) * (right - left)};
}

__global__ void max_pool_kernel(PoolGeometry g, const float* in, float* out, std::int32_t* winners) {
  const std::size_t plane_size = static_cast<std::size_t>(g.out_height) * g.out_width;
  for (std::size_t i = first_item(); i < g.planes * plane_size; i += item_stride()) {
    const float* plane = in + i / plane_size * g.height * g.width;
    const int place = static_cast<int>(i % plane_size);
    const Window w = window_of(g, place / g.out_width, place % g.out_width);
    int best = w.top * g.width + w.left;
    for (int y = w.top; y < w.bottom; ++y) {
      for (int x = w.left; x < w.right; ++x) {
        const float value = plane[y * g.width + x];
        if (value > plane[best] || isnan(value)) best = y * g.width + x;
      }
    }
    out[i] = plane[best];
    winners[i] = best;
  }
}

// The windows that hold row (or column) `place`: [first, last).
struct Span {
  int first, last;
};
__device__ Span windows_over(int place, int kernel, int stride, int padding, int outputs) {
  const int shifted = place + padding;
  const int first = shifted < kernel ? 0 : (shifted - kernel) / stride + 1;
  return {first, min(shifted / stride + 1, outputs)};
}

// Of an image's value.
struct WindowsOver {
  Span rows, columns;
};
__device__ WindowsOver windows_over(const PoolGeometry& g, int place) {
  return {windows_over(place / g.width, g.kernel.height, g.stride.height, g.padding.height, g.out_height),
          windows_over(place % g.width, g.kernel.width, g.stride.width, g.padding.width, g.out_width)};
}

// Each value gathers from the windows above it, in their order: no atomics, the same bits each time.
__global__ void max_pool_back_kernel(PoolGeometry g, const float* gradient, const std::int32_t* winners,
                                     float* out) {
  const std::size_t plane_size = static_cast<std::size_t>(g.height) * g.width;
  for (std::size_t i = first_item(); i < g.planes * plane_size; i += item_stride()) {
    const std::size_t base = i / plane_size * g.out_height * g.out_width;
    const int place = static_cast<int>(i % plane_size);
    const auto [rows, columns] = windows_over(g, place);
    float sum = 0.0F;
    for (int y = rows.first; y < rows.last; ++y) {
      for (int x = columns.first; x < columns.last; ++x) {
        const std::size_t at = base + static_cast<std::size_t>(y) * g.out_width + x;
        if (winners[at] == place) sum += gradient[at];
      }
    }
    out[i] = sum;
  }
}

__global__ void average_pool_kernel(PoolGeometry g, const float* in, float* out) {
  const std::size_t plane_size = static_cast<std::size_t>(g.out_height) * g.out_width;
  for (std::size_t i = first_item(); i < g.planes * plane_size; i += item_stride()) {
    const float* plane = in + i / plane_size * g.height * g.width;
    const int place = static_cast<int>(i % plane_size);
    const Window w = window_of(g, place / g.out_width, place % g.out_width);
    float sum = 0.0F;
    for (int y = w.top; y < w.bottom; ++y) {
      for (int x = w.left; x < w.right; ++x) sum += plane[y * g.width + x];
    }
    out[i] = sum / static_cast<float>(w.counted);
  }
}

__global__ void average_pool_back_kernel(PoolGeometry g, const float* gradient, float* out) {
  const std::size_t plane_size = static_cast<std::size_t>(g.height) * g.width;
  for (std::size_t i = first_item(); i < g.planes * plane_size; i += item_stride()) {
    const float* plane = gradient + i / plane_size * g.out_height * g.out_width;
    const int place = static_cast<int>(i % plane_size);
    const auto [rows, columns] = windows_over(g, place);
    float sum = 0.0F;
    for (int y = rows.first; y < rows.last; ++y) {
      for (int x = columns.first; x < columns.last; ++x)
        sum += plane[y * g.out_width + x] / static_cast<float>(window_of(g, y, x).counted);
    }
    out[i] = sum;
  }
}

std::size_t outputs_of(const PoolGeometry& g) { return g.planes * g.out_height * g.out_width; }
std::size_t inputs_of(const PoolGeometry& g) { return g.planes * g.height * g.width; }

}  // namespace

void max_pool(const PoolGeometry& g, const float* in, float* out, std::int32_t* winners,
              cudaStream_t stream) {
  max_pool_kernel<<<blocks_for(outputs_of(g)), block_size, 0, stream>>>(g, in, out, winners);
  check_launch("max_pool");
}

void max_pool_back(const PoolGeometry& g, const float* gradient, const std::int32_t* winners,
                   float* in_gradient, cudaStream_t stream) {
  max_pool_back_kernel<<<blocks_for(inputs_of(g)), block_size, 0, stream>>>(g, gradient, winners,
                                                                            in_gradient);
  check_launch("max_pool_back");
}

void average_pool(const PoolGeometry& g, const float* in, float* out, cudaStream_t stream) {
  average_pool_kernel<<<blocks_for(outputs_of(g)), block_size, 0, stream>>>(g, in, out);
  check_launch("average_pool");
}

void average_pool_back(const PoolGeometry& g, const float* gradient, float* in_gradient,
                       cudaStream_t stream) {
  average_pool_back_kernel<<<blocks_for(inputs_of(g)), block_size, 0, stream>>>(g, gradient, in_gradient);
  check_launch("average_pool_back");
}

}  // namespace ddlrun::runtime::gpu
