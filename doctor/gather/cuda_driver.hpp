// SPDX-License-Identifier: MIT
// A small trial of GPUs through CUDA's driver library, loaded while the program runs and without its headers:
// memory, a sum computed and checked, copies between GPUs checked by the receiving GPU's own reads.
#pragma once

#include "base/os/plugin.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ddlrun::doctor {

class CudaDriver {
 public:
  // Error{request} where the library does not load or cuInit refuses ("CUDA_ERROR_NO_DEVICE").
  static CudaDriver open(const std::string& path);

  int count() const;                       // 0 if unknown
  std::string pci_address(int gpu) const;  // "0000:01:00.0", "" if unknown

  // Takes 256 MiB, adds two vectors of 4 Mi numbers and looks at the sum. "" = right; else what failed.
  // `while_busy` is called after the copies, while the GPU is still awake.
  std::string try_gpu(int gpu, const std::function<void()>& while_busy) const;
  // Copies 4 MiB from one GPU to the other and reads it there. "" = right.
  std::string try_copy(int from, int to) const;
  bool may_access(int from, int to) const;

 private:
  explicit CudaDriver(Plugin library) : library_(std::move(library)) {}
  template <typename... Arguments>
  std::string call(const char* function, Arguments... arguments) const;
  std::string add_vectors() const;
  std::string launch_add(std::uint64_t a, std::uint64_t b, std::uint64_t sum) const;
  std::string copy_and_look(void* from, void* to) const;

  Plugin library_;
};

}  // namespace ddlrun::doctor
