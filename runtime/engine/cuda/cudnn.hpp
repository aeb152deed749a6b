// SPDX-License-Identifier: MIT
// cuDNN's descriptors as values that free themselves.
#pragma once

#include "runtime/engine/cuda/check.hpp"
#include "runtime/models/layer.hpp"

#include <cstddef>

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

inline void set_tensor(const TensorDescriptor& descriptor, std::size_t batch, const Shape& shape) {
  check(cudnnSetTensor4dDescriptor(descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, static_cast<int>(batch),
                                   shape.channels, shape.height, shape.width),
        "cudnnSetTensor4dDescriptor");
}

// cuDNN scales by what stands on the host.
constexpr float one = 1.0F;
constexpr float zero = 0.0F;

}  // namespace ddlrun::runtime::gpu
