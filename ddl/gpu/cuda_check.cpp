// SPDX-License-Identifier: MIT
#include "ddl/gpu/cuda_check.hpp"

#include "ddl/error.hpp"

#include <fmt/format.h>

namespace ddl {
namespace {

// cuCtxGetCurrent, whose first result is 0 for success.
using GetContext = int (*)(void**);

GetContext find_get_context() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult how = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &found, 12000, cudaEnableDefault, &how);
#else
  const cudaError_t code = cudaGetDriverEntryPoint("cuCtxGetCurrent", &found, cudaEnableDefault, &how);
#endif
  if (code != cudaSuccess || how != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<GetContext>(found);
}

std::string render_cuda_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

[[noreturn]] void refuse_cuda_driver() {
  int driver = 0;
  int runtime = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  throw Error(Fault::unsupported,
              driver == 0
                  ? "there is no NVIDIA driver on this host"
                  : fmt::format("the NVIDIA driver of this host is for CUDA {}, and CUDA {} is needed",
                                render_cuda_version(driver), render_cuda_version(runtime)),
              "CUDA", "nvidia-smi; or -mode b, with tensors in host memory");
}

}  // namespace

void check_cuda(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // reported once
  if (code == cudaErrorInsufficientDriver) refuse_cuda_driver();
  int device = 0;
  throw Error(Fault::unsupported,
              fmt::format("{} failed: {} ({})", call, cudaGetErrorString(code), cudaGetErrorName(code)),
              has_current_cuda_device(device) ? describe_cuda_device(device) : "CUDA", "nvidia-smi");
}

std::string describe_cuda_device(int device) {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return fmt::format("GPU {}", device);
  return fmt::format("GPU {} ({})", device, properties.name);
}

bool has_current_cuda_device(int& device) {
  static const GetContext get_context = find_get_context();
  void* context = nullptr;
  return get_context != nullptr && get_context(&context) == 0 && context != nullptr &&
         cudaGetDevice(&device) == cudaSuccess;
}

OnCudaDevice::OnCudaDevice(int device) {
  int current = -1;
  if (has_current_cuda_device(current)) {
    if (current == device) return;
    before_ = current;
  }
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
}

OnCudaDevice::~OnCudaDevice() {
  if (before_ >= 0) static_cast<void>(cudaSetDevice(before_));
}

}  // namespace ddl
