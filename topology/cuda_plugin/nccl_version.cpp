// SPDX-License-Identifier: MIT
// Looked up while running and not linked: the plug-in is of use without NCCL too.
#include "topology/cuda_plugin/nccl_version.hpp"

#include <dlfcn.h>
#include <nccl.h>

namespace ddlrun::topology {

int nccl_version() {
  void* library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 0;
  const auto get = reinterpret_cast<decltype(&ncclGetVersion)>(::dlsym(library, "ncclGetVersion"));
  int version = 0;
  return get != nullptr && get(&version) == ncclSuccess ? version : 0;
}

}  // namespace ddlrun::topology
