// SPDX-License-Identifier: MIT
// The communicators of a rank's GPU and how calls go over them: one of all ranks, for NCCL knows the machine
// itself; with levels also one of the host (X) and one of each level of the dims, so that all_reduce adds up
// within the host, then between hosts, as libddl does on the host.
#pragma once

#include "ddl/core/grid.hpp"
#include "ddl/ddl.hpp"
#include "ddl/gpu/gpu_plugin.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// Which ranks are in a communicator with this one, in its order.
struct GpuCommMembers {
  int me = 0;
  std::vector<int> ranks;
};
// First all ranks; with `levels` then the host's, then those of each level. Pure.
std::vector<GpuCommMembers> plan_gpu_comms(const Grid& grid, int rank, bool levels);

class GpuComms {
 public:
  // Returns when what it is given is true; throws if that cannot be.
  using Wait = std::function<void(const std::function<bool()>&)>;
  // `ids`: of each of the planned groups. Connects them one after the other.
  GpuComms(Gpu& gpu, const std::vector<GpuCommMembers>& plan, const std::vector<std::string>& ids, Wait wait);

  void all_reduce(std::span<const Tensor> tensors, Operation operation);
  void broadcast(const Tensor& tensor, int root);
  void reduce(const Tensor& tensor, Operation operation, int root);
  void reduce_scatter(const Tensor& in, const Tensor& out, Operation operation);
  void all_gather(const Tensor& in, const Tensor& out);

  std::string fault() const;  // NCCL's, of any group; "" for none
  void finish();
  void abort() noexcept;

 private:
  struct Group {
    GpuCommMembers members;
    std::unique_ptr<GpuComm> nccl;
  };
  template <typename Work>
  void together(Group& group, const Work& work);
  void all_reduce_by_levels(std::span<const Tensor> tensors, Operation operation);

  Wait wait_;
  std::vector<Group> comms_;
};

}  // namespace ddl
