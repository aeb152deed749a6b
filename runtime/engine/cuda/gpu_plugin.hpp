// SPDX-License-Identifier: MIT
// Interface of the CUDA plug-in, which is loaded only if a GPU is requested, so that ddl-train starts on
// nodes without CUDA libraries. Plug-in and program must come from the same build.
#pragma once

#include "runtime/engine/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ddlrun::runtime {

// Parameters of the reduction over all GPUs by NCCL.
struct GpuSums {
  std::string nccl_id;  // rank 0's, on all ranks; "": each rank has its own gradients
  int rank = 0;
  int ranks = 1;
};

struct GpuOptions {
  int device = 0;                             // among those that CUDA_VISIBLE_DEVICES leaves
  bool tensor_float = false;                  // TF32: faster, 10 bits of mantissa in products
  std::size_t largest_kept_bytes = SIZE_MAX;  // --lms: larger activations are kept in host memory
  GpuSums sums;
};

// Implemented in the plug-in.
class GpuPlugin {
 public:
  virtual ~GpuPlugin() = default;
  // Throws Error(request) if there is no driver.
  virtual int device_count() const = 0;
  virtual std::string device_name(int device) const = 0;
  virtual std::string library_versions() const = 0;  // "CUDA 13.0, cuDNN 9.19, NCCL 2.28.9"
  // Whether NCCL is built in and installed; and the id for GpuSums, which rank 0 creates.
  virtual bool has_nccl() const = 0;
  virtual std::string make_nccl_id() const = 0;
  // Collective with `options.sums`.
  virtual std::unique_ptr<Engine> make_engine(const Net& net, std::size_t batch, std::span<float> parameters,
                                              std::span<float> gradients,
                                              const GpuOptions& options) const = 0;
};

// Identifies this build; program and plug-in must have the same.
std::string gpu_plugin_build();

// Loads the plug-in once. Throws Error(request): not installed, from another build, or a CUDA library is
// missing (with the loader's message).
const GpuPlugin& load_gpu_plugin();
// Throws Error(request): no driver, no GPU, no GPU `device`.
void require_gpu(const GpuPlugin& plugin, int device);

}  // namespace ddlrun::runtime
