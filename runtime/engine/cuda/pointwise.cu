// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/grid.hpp"
#include "runtime/engine/cuda/kernels.hpp"

namespace ddlrun::runtime::gpu {
namespace {

__global__ void relu_kernel(const float* in, float* out, std::size_t count, float slope) {
  for (std::size_t i = first_item(); i < count; i += item_stride())
    out[i] = in[i] < 0.0F ? slope * in[i] : in[i];  // a NaN stays one
}

__global__ void relu_back_kernel(const float* out, const float* gradient, float* in_gradient,
                                 std::size_t count, float slope) {
  for (std::size_t i = first_item(); i < count; i += item_stride())
    in_gradient[i] = out[i] > 0.0F ? gradient[i] : slope * gradient[i];
}

// dropout_keeps() of engine/dropout.hpp.
__device__ bool keeps(std::uint64_t key, std::uint64_t place, std::uint32_t limit) {
  std::uint64_t z = key + (place + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::uint32_t>(z >> 32U) >= limit;
}

__global__ void dropout_kernel(const float* in, float* out, std::size_t count, std::uint64_t key,
                               std::uint32_t limit, float scale) {
  for (std::size_t i = first_item(); i < count; i += item_stride())
    out[i] = keeps(key, i, limit) ? in[i] * scale : 0.0F;
}

__global__ void add_kernel(float* sum, const float* term, std::size_t count) {
  for (std::size_t i = first_item(); i < count; i += item_stride()) sum[i] += term[i];
}

__global__ void add_bias_kernel(float* rows, const float* bias, std::size_t count, std::size_t columns) {
  for (std::size_t i = first_item(); i < count; i += item_stride()) rows[i] += bias[i % columns];
}

__global__ void sum_columns_kernel(const float* rows, float* sums, std::size_t row_count,
                                   std::size_t columns) {
  for (std::size_t column = first_item(); column < columns; column += item_stride()) {
    float sum = 0.0F;
    for (std::size_t row = 0; row < row_count; ++row) sum += rows[row * columns + column];
    sums[column] = sum;
  }
}

}  // namespace

void relu(const float* in, float* out, std::size_t count, float slope, cudaStream_t stream) {
  relu_kernel<<<blocks_for(count), block_size, 0, stream>>>(in, out, count, slope);
  check_launch("relu");
}

void relu_back(const float* out, const float* gradient, float* in_gradient, std::size_t count, float slope,
               cudaStream_t stream) {
  relu_back_kernel<<<blocks_for(count), block_size, 0, stream>>>(out, gradient, in_gradient, count, slope);
  check_launch("relu_back");
}

void dropout(const float* in, float* out, std::size_t count, std::uint64_t key, std::uint32_t limit,
             float scale, cudaStream_t stream) {
  dropout_kernel<<<blocks_for(count), block_size, 0, stream>>>(in, out, count, key, limit, scale);
  check_launch("dropout");
}

void add(float* sum, const float* term, std::size_t count, cudaStream_t stream) {
  add_kernel<<<blocks_for(count), block_size, 0, stream>>>(sum, term, count);
  check_launch("add");
}

void add_bias_rows(float* rows, const float* bias, std::size_t row_count, std::size_t columns,
                   cudaStream_t stream) {
  add_bias_kernel<<<blocks_for(row_count * columns), block_size, 0, stream>>>(rows, bias, row_count * columns,
                                                                              columns);
  check_launch("add_bias_rows");
}

void sum_columns(const float* rows, float* sums, std::size_t row_count, std::size_t columns,
                 cudaStream_t stream) {
  sum_columns_kernel<<<blocks_for(columns), block_size, 0, stream>>>(rows, sums, row_count, columns);
  check_launch("sum_columns");
}

}  // namespace ddlrun::runtime::gpu
