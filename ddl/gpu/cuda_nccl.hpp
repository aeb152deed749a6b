// SPDX-License-Identifier: MIT
// NCCL, looked up while running: its communicators as GpuComm. A build without its header has none
// (cuda_no_nccl.cpp).
#pragma once

#include "ddl/gpu/cuda_check.hpp"
#include "ddl/gpu/gpu_plugin.hpp"

#include <memory>
#include <string>

namespace ddl {

// Throws Error(unsupported): not built in, not on this machine, too old.
void require_cuda_nccl();
std::string make_nccl_id();
// On `stream` of `device`, which outlive the group.
std::unique_ptr<GpuComm> join_nccl(const std::string& id, int rank, int size, int device,
                                   cudaStream_t stream);

}  // namespace ddl
