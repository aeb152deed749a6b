// SPDX-License-Identifier: MIT
// The GPU engine: cuDNN, cuBLAS and our own kernels. The caller's flat vectors stay on the host and are
// copied.
#pragma once

#include "runtime/engine/cuda/gpu_plugin.hpp"

namespace ddlrun::runtime::gpu {

std::unique_ptr<Engine> make_cuda_engine(const Net& net, std::size_t batch, std::span<float> parameters,
                                         std::span<float> gradients, const GpuOptions& options);

}  // namespace ddlrun::runtime::gpu
