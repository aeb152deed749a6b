// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/nccl.hpp"

namespace ddlrun::runtime::gpu {
namespace {

[[noreturn]] void refuse_groups() {
  throw Error(ErrorKind::request, {"this CUDA plug-in was built without NCCL, which several GPUs need",
                                   "NCCL", "install libnccl-dev and rebuild; or use one rank"});
}

}  // namespace

std::string describe_nccl() { return ""; }
std::string make_nccl_id() { refuse_groups(); }
std::unique_ptr<NcclGroup> make_nccl_group(const Device&, const std::string&, int, int) { refuse_groups(); }

}  // namespace ddlrun::runtime::gpu
