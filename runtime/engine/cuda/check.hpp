// SPDX-License-Identifier: MIT
// Answers of CUDA's libraries as errors that say what, where and what to try.
#pragma once

#include "base/text/error.hpp"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <string>

namespace ddlrun::runtime::gpu {

// Each throws Error(request) unless the call went well; `call` is what was called. Out of memory has a remedy
// of its own.
void check(cudaError_t code, const char* call);
void check(cudnnStatus_t code, const char* call);
void check(cublasStatus_t code, const char* call);

// "GPU 1 (NVIDIA H200, 0000:3b:00.0)", as far as it is known.
std::string name_of_device(int device);

}  // namespace ddlrun::runtime::gpu
