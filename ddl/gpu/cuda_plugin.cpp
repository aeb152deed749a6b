// SPDX-License-Identifier: MIT
// libddl_cuda.so: what gpu_plugin.hpp promises.
#include "ddl/gpu/cuda_check.hpp"
#include "ddl/gpu/cuda_gpu.hpp"
#include "ddl/gpu/cuda_nccl.hpp"

namespace ddl {
namespace {

class CudaPlugin : public GpuPlugin {
 public:
  int device_count() const override {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaErrorNoDevice) {
      static_cast<void>(cudaGetLastError());
      return 0;
    }
    check_cuda(code, "cudaGetDeviceCount");
    return count;
  }
  std::optional<int> current_device() const override {
    int device = 0;
    if (!has_current_cuda_device(device)) return std::nullopt;
    return device;
  }
  std::optional<int> device_of(const void* memory) const override {
    cudaPointerAttributes attributes{};
    check_cuda(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
    if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
      return std::nullopt;
    return attributes.device;
  }
  void require_nccl() const override { require_cuda_nccl(); }
  std::unique_ptr<Gpu> open(int device) const override { return open_cuda_gpu(device); }
};

}  // namespace
}  // namespace ddl

extern "C" {

const char* ddl_gpu_build() { return DDL_GPU_BUILD; }

const ddl::GpuPlugin* ddl_gpu_plugin() {
  static const ddl::CudaPlugin plugin;
  return &plugin;
}

}  // extern "C"
