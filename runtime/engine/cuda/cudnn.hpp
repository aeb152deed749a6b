// SPDX-License-Identifier: MIT
// cuDNN's descriptors as values that free themselves.
#pragma once

#include "runtime/engine/cuda/check.hpp"
#include "runtime/models/layer.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace ddlrun::runtime::gpu {

template <typename Handle, cudnnStatus_t (*create)(Handle*), cudnnStatus_t (*destroy)(Handle)>
class Descriptor {
 public:
  Descriptor() { check(create(&handle_), "cudnnCreate...Descriptor"); }
  ~Descriptor() { destroy(handle_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

using TensorDescriptor =
    Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor = Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
                                         cudnnDestroyConvolutionDescriptor>;

// cuDNN 9 refuses a tensor of 2^31 elements or more with CUDNN_STATUS_NOT_SUPPORTED, which names no cause.
inline void set_tensor(const TensorDescriptor& descriptor, std::size_t batch, const Shape& shape) {
  const std::size_t elements = batch * shape.count();
  if (elements > INT32_MAX)
    throw Error(
        ErrorKind::request,
        {fmt::format("{} images per batch need a tensor of {} elements; cuDNN's limit is {}", batch, elements,
                     INT32_MAX),
         fmt::format("a layer's values, {}x{}x{} per image", shape.channels, shape.height, shape.width),
         fmt::format("--batch-size {} or less", INT32_MAX / shape.count())});
  check(cudnnSetTensor4dDescriptor(descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, static_cast<int>(batch),
                                   shape.channels, shape.height, shape.width),
        "cudnnSetTensor4dDescriptor");
}

// cuDNN scales by what stands on the host.
constexpr float one = 1.0F;
constexpr float zero = 0.0F;

}  // namespace ddlrun::runtime::gpu
