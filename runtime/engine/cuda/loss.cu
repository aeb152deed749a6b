// SPDX-License-Identifier: MIT
// Softmax cross-entropy as engine/loss.hpp defines it. A block has one row; its sums are trees of fixed
// shape.
#include "runtime/engine/cuda/grid.hpp"
#include "runtime/engine/cuda/kernels.hpp"

#include <cmath>

namespace ddlrun::runtime::gpu {
namespace {

constexpr unsigned row_threads = 128;

template <typename Join>
__device__ float join_block(float mine, float* shared, Join join) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = row_threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

__global__ void softmax_loss_kernel(const float* logits, const Label* labels, int classes, float scale,
                                    float* losses, std::int32_t* correct, float* gradients) {
  __shared__ float shared[row_threads];
  const std::size_t row = blockIdx.x;
  const float* values = logits + row * classes;
  const int label = labels[row];
  float largest = -INFINITY;
  float bad = 0.0F;
  for (int c = threadIdx.x; c < classes; c += row_threads) {
    largest = fmaxf(largest, values[c]);
    if (!isfinite(values[c])) bad = 1.0F;
  }
  largest = join_block(largest, shared, [](float a, float b) { return fmaxf(a, b); });
  bad = join_block(bad, shared, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0.0F;
  float before = 0.0F;  // a class before the label with as large a value takes the place
  for (int c = threadIdx.x; c < classes; c += row_threads) {
    sum += expf(values[c] - largest);
    if (c < label && values[c] == largest) before = 1.0F;
  }
  sum = join_block(sum, shared, [](float a, float b) { return a + b; });
  before = join_block(before, shared, [](float a, float b) { return fmaxf(a, b); });
  if (threadIdx.x == 0) {
    losses[row] = bad != 0.0F ? NAN : logf(sum) - (values[label] - largest);
    correct[row] = bad == 0.0F && before == 0.0F && values[label] == largest ? 1 : 0;
  }
  if (gradients == nullptr) return;
  for (int c = threadIdx.x; c < classes; c += row_threads)
    gradients[row * classes + c] = scale * (expf(values[c] - largest) / sum - (c == label ? 1.0F : 0.0F));
}

}  // namespace

void softmax_loss(const float* logits, const Label* labels, std::size_t rows, int classes, float scale,
                  float* losses, std::int32_t* correct, float* gradients, cudaStream_t stream) {
  softmax_loss_kernel<<<static_cast<unsigned>(rows), row_threads, 0, stream>>>(logits, labels, classes, scale,
                                                                               losses, correct, gradients);
  check_launch("softmax_loss");
}

}  // namespace ddlrun::runtime::gpu
