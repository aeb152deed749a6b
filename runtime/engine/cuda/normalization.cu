// SPDX-License-Identifier: MIT
// LRN across channels: x * (k + alpha/size * sum of squares)^-beta. A thread has one place of an image and
// walks its channels.
#include "runtime/engine/cuda/grid.hpp"
#include "runtime/engine/cuda/kernels.hpp"

namespace ddlrun::runtime::gpu {
namespace {

__device__ float base_of(const LrnGeometry& g, const float* in, int channel) {
  float squares = 0.0F;
  const int half = g.size / 2;
  for (int c = max(channel - half, 0); c <= min(channel + half, g.channels - 1); ++c)
    squares += in[c * g.plane] * in[c * g.plane];
  return g.k + g.alpha / static_cast<float>(g.size) * squares;
}

__global__ void lrn_kernel(LrnGeometry g, const float* in, float* out) {
  for (std::size_t i = first_item(); i < g.batch * g.plane; i += item_stride()) {
    const std::size_t start = i / g.plane * g.channels * g.plane + i % g.plane;
    for (int c = 0; c < g.channels; ++c)
      out[start + c * g.plane] = in[start + c * g.plane] * powf(base_of(g, in + start, c), -g.beta);
  }
}

// d in[c] = d out[c] * base[c]^-beta - 2 alpha beta / size * in[c] * sum over j near c of d out[j] * in[j] *
// base[j]^(-beta-1)
__global__ void lrn_back_kernel(LrnGeometry g, const float* in, const float* gradient, float* out) {
  const int half = g.size / 2;
  for (std::size_t i = first_item(); i < g.batch * g.plane; i += item_stride()) {
    const std::size_t start = i / g.plane * g.channels * g.plane + i % g.plane;
    const float* x = in + start;
    const float* dy = gradient + start;
    for (int c = 0; c < g.channels; ++c) {
      float around = 0.0F;
      for (int j = max(c - half, 0); j <= min(c + half, g.channels - 1); ++j)
        around += dy[j * g.plane] * x[j * g.plane] * powf(base_of(g, x, j), -g.beta - 1.0F);
      out[start + c * g.plane] =
          dy[c * g.plane] * powf(base_of(g, x, c), -g.beta) -
          2.0F * g.alpha * g.beta / static_cast<float>(g.size) * x[c * g.plane] * around;
    }
  }
}

}  // namespace

void lrn(const LrnGeometry& g, const float* in, float* out, cudaStream_t stream) {
  lrn_kernel<<<blocks_for(g.batch * g.plane), block_size, 0, stream>>>(g, in, out);
  check_launch("lrn");
}

void lrn_back(const LrnGeometry& g, const float* in, const float* gradient, float* in_gradient,
              cudaStream_t stream) {
  lrn_back_kernel<<<blocks_for(g.batch * g.plane), block_size, 0, stream>>>(g, in, gradient, in_gradient);
  check_launch("lrn_back");
}

}  // namespace ddlrun::runtime::gpu
