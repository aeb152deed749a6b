// SPDX-License-Identifier: MIT
// Answers of the CUDA runtime as errors that say what, where and what to try.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace ddl {

// Throws Error(unsupported) unless the call went well; `call` is what was called.
void check_cuda(cudaError_t code, const char* call);

// "GPU 1 (NVIDIA H200)", as far as it is known.
std::string describe_cuda_device(int device);

// The GPU of the context that this thread uses. A thread that uses none must not get one by the way: that
// costs memory on a GPU which is another rank's.
bool has_current_cuda_device(int& device);

// This thread works on `device`, then again on what it worked on before.
class OnCudaDevice {
 public:
  explicit OnCudaDevice(int device);
  ~OnCudaDevice();
  OnCudaDevice(const OnCudaDevice&) = delete;
  OnCudaDevice& operator=(const OnCudaDevice&) = delete;

 private:
  int before_ = -1;  // -1: nothing to go back to
};

}  // namespace ddl
