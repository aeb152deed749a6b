// SPDX-License-Identifier: MIT
#include "ddl/core/own_plugin.hpp"
#include "ddl/gpu/gpu_plugin.hpp"

namespace ddl {
namespace {

constexpr OwnPlugin cuda_plugin{
    "libddl_cuda.so",
    "the plug-in for GPUs",
    "sums on GPUs need",
    "install a libddl that was built where the CUDA Toolkit is; or -mode b, with tensors in host memory",
    "ddl_gpu_build",
    DDL_GPU_BUILD,
    "ddl_gpu_plugin"};

const GpuPlugin* open_gpu_plugin() {
  void* const function = open_own_plugin(cuda_plugin, find_own_plugin(cuda_plugin));
  return reinterpret_cast<const GpuPlugin* (*)()>(function)();
}

}  // namespace

const GpuPlugin& load_gpu_plugin() {
  static const GpuPlugin* const plugin = open_gpu_plugin();
  return *plugin;
}

}  // namespace ddl
