// SPDX-License-Identifier: MIT
// ddl_train_cuda.so: what gpu_plugin.hpp promises.
#include "runtime/engine/cuda/check.hpp"
#include "runtime/engine/cuda/cuda_engine.hpp"
#include "runtime/engine/cuda/gpu_plugin.hpp"
#include "runtime/engine/cuda/nccl.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime::gpu {
namespace {

std::string render_version(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

[[noreturn]] void refuse_driver() {
  int driver = 0;
  int runtime = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  throw Error(
      ErrorKind::request,
      {driver == 0 ? "no NVIDIA driver on this host"
                   : fmt::format("the NVIDIA driver of this host supports CUDA {}, but CUDA {} is needed",
                                 render_version(driver), render_version(runtime)),
       "--device cuda", driver == 0 ? "nvidia-smi; or --device cpu" : "nvidia-smi; a newer driver"});
}

class CudaPlugin : public GpuPlugin {
 public:
  int device_count() const override {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaErrorNoDevice) return 0;
    if (code == cudaErrorInsufficientDriver) refuse_driver();
    check(code, "cudaGetDeviceCount");
    return count;
  }

  std::string device_name(int device) const override { return name_of_device(device); }

  std::string library_versions() const override {
    int runtime = 0;
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    const std::size_t cudnn = cudnnGetVersion();
    return fmt::format("CUDA {}, cuDNN {}.{}{}", render_version(runtime), cudnn / 10000, cudnn % 10000 / 100,
                       describe_nccl());
  }

  bool has_nccl() const override { return !describe_nccl().empty(); }
  std::string make_nccl_id() const override { return gpu::make_nccl_id(); }

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
