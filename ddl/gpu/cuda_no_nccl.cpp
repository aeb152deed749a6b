// SPDX-License-Identifier: MIT
#include "ddl/gpu/cuda_nccl.hpp"

namespace ddl {

void require_cuda_nccl() {
  throw Error(Fault::unsupported, "this build of libddl's plug-in for GPUs has no NCCL", "libddl_cuda.so",
              "install libnccl-dev and build again; or -mode b, with tensors in host memory");
}

std::string make_nccl_id() {
  require_cuda_nccl();
  return "";
}

std::unique_ptr<GpuComm> join_nccl(const std::string&, int, int, int, cudaStream_t) {
  require_cuda_nccl();
  return nullptr;
}

}  // namespace ddl
