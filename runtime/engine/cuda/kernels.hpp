// SPDX-License-Identifier: MIT
// Our own GPU code: what neither cuDNN nor cuBLAS does as the CPU engine does it. All arrays lie on the
// device, in plain layout (image, channel, row, column), and every call only joins the stream's queue. No
// result depends on the order in which threads run.
#pragma once

#include "runtime/models/layer.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace ddlrun::runtime::gpu {

// Windows of one pooling layer over `planes` = batch * channels images.
struct PoolGeometry {
  std::size_t planes = 0;
  int height = 0;
  int width = 0;
  int out_height = 0;
  int out_width = 0;
  Sides kernel;
  Sides stride;
  Sides padding;
};

// `winners`: where in its plane each maximum stood, for the way back. A NaN wins.
void max_pool(const PoolGeometry& geometry, const float* in, float* out, std::int32_t* winners,
              cudaStream_t stream);
void max_pool_back(const PoolGeometry& geometry, const float* gradient, const std::int32_t* winners,
                   float* in_gradient, cudaStream_t stream);
// Counts padding, but nothing beyond it.
void average_pool(const PoolGeometry& geometry, const float* in, float* out, cudaStream_t stream);
void average_pool_back(const PoolGeometry& geometry, const float* gradient, float* in_gradient,
                       cudaStream_t stream);

struct LrnGeometry {
  std::size_t batch = 0;
  int channels = 0;
  std::size_t plane = 0;  // height * width
  int size = 5;
  float alpha = 1e-4F;
  float beta = 0.75F;
  float k = 1.0F;
};
void lrn(const LrnGeometry& geometry, const float* in, float* out, cudaStream_t stream);
void lrn_back(const LrnGeometry& geometry, const float* in, const float* gradient, float* in_gradient,
              cudaStream_t stream);

// Negative values times `slope`, which is not below 0.
void relu(const float* in, float* out, std::size_t count, float slope, cudaStream_t stream);
// By the output: `slope` where it is not above 0.
void relu_back(const float* out, const float* gradient, float* in_gradient, std::size_t count, float slope,
               cudaStream_t stream);
// dropout_keeps() of engine/dropout.hpp decides, so CPU and GPU drop the same.
void dropout(const float* in, float* out, std::size_t count, std::uint64_t key, std::uint32_t limit,
             float scale, cudaStream_t stream);
// sum += term.
void add(float* sum, const float* term, std::size_t count, cudaStream_t stream);
// Each row of `columns` gets the bias; and the sums of the columns.
void add_bias_rows(float* rows, const float* bias, std::size_t row_count, std::size_t columns,
                   cudaStream_t stream);
void sum_columns(const float* rows, float* sums, std::size_t row_count, std::size_t columns,
                 cudaStream_t stream);

// Per row its loss and whether its largest logit is its label's; `gradients` = scale * (softmax - one-hot),
// if not null.
void softmax_loss(const float* logits, const Label* labels, std::size_t rows, int classes, float scale,
                  float* losses, std::int32_t* correct, float* gradients, cudaStream_t stream);

}  // namespace ddlrun::runtime::gpu
