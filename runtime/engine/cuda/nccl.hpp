// SPDX-License-Identifier: MIT
// Sums over GPUs by NCCL, which is looked up while running: one GPU needs none.
#pragma once

#include "runtime/engine/cuda/device.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace ddlrun::runtime::gpu {

// ", NCCL 2.28.9", or "" where it is not built in or not on this machine.
std::string describe_nccl();

class NcclGroup {
 public:
  virtual ~NcclGroup() = default;
  // In place, on the device's stream; all ranks call it in the same order.
  virtual void all_reduce_sum(float* data, std::size_t count) = 0;
  // Rank 0's values on all.
  virtual void broadcast(float* data, std::size_t count) = 0;
  // Waits for the stream, and throws if a rank is lost or silent for longer than this.
  virtual void wait(double timeout_seconds) = 0;
};

// What rank 0 makes and all ranks get, as text without blanks.
std::string make_nccl_id();
// Collective. Throws Error(request) with NCCL's words.
std::unique_ptr<NcclGroup> make_nccl_group(const Device& device, const std::string& id, int rank, int size);

}  // namespace ddlrun::runtime::gpu
