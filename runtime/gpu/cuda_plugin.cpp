// SPDX-License-Identifier: MIT
// ddl_train_cuda.so: what gpu_plugin.hpp promises.
#include "runtime/gpu/cuda_check.hpp"
#include "runtime/gpu/cuda_engine.hpp"
#include "runtime/gpu/cuda_nccl.hpp"
#include "runtime/gpu/gpu_plugin.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime::gpu {
namespace {

class CudaPlugin : public GpuPlugin {
 public:
  int device_count() const override {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaErrorNoDevice) return 0;
    check(code, "cudaGetDeviceCount");
    return count;
  }

  std::string device_name(int device) const override { return name_of_device(device); }

  std::string library_versions() const override {
    int runtime = 0;
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    const std::size_t cudnn = cudnnGetVersion();
    return fmt::format("CUDA {}.{}, cuDNN {}.{}{}", runtime / 1000, runtime % 1000 / 10, cudnn / 10000,
                       cudnn % 10000 / 100, describe_nccl());
  }

  std::unique_ptr<Engine> make_engine(const Net& net, std::size_t batch, std::span<float> parameters,
                                      std::span<float> gradients, const GpuOptions& options) const override {
    return make_cuda_engine(net, batch, parameters, gradients, options);
  }
};

}  // namespace
}  // namespace ddlrun::runtime::gpu

extern "C" {

const char* ddl_train_gpu_build() {
  static const std::string build = ddlrun::runtime::gpu_plugin_build();
  return build.c_str();
}

const ddlrun::runtime::GpuPlugin* ddl_train_gpu_plugin() {
  static const ddlrun::runtime::gpu::CudaPlugin plugin;
  return &plugin;
}

}  // extern "C"
