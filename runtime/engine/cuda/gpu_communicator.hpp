// SPDX-License-Identifier: MIT
// A communicator for gradients that NCCL has already reduced on the GPUs: reduces only the rest through the
// host.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

class GpuCommunicator : public Communicator {
 public:
  explicit GpuCommunicator(Communicator& ranks) : ranks_(ranks) {}
  // Declares that `memory` holds sums, equal on all ranks. It must begin at the same offset of the reduced
  // vectors on all ranks.
  void mark_as_summed(std::span<const float> memory) { summed_ = memory; }

  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  int local_rank() const override { return ranks_.local_rank(); }
  int local_size() const override { return ranks_.local_size(); }
  std::span<float> allocate(std::size_t count) override { return ranks_.allocate(count); }
  std::span<float> allocate_host_shared(std::size_t count) override {
    return ranks_.allocate_host_shared(count);
  }
  void all_reduce_sum(std::span<const float> in, std::span<float> out) override {
    ranks_.all_reduce_sum(in, out);
  }
  bool reduces_precision() const override { return ranks_.reduces_precision(); }
  void all_reduce_sum(std::span<float> data, std::string_view name) override;
  void all_reduce_update(std::span<float> data, std::string_view name, const ApplySums& use) override;
  bool chunk_invariant_sums() const override { return ranks_.chunk_invariant_sums(); }
  void broadcast(std::span<float> data) override { ranks_.broadcast(data); }
  std::vector<std::string> gather_all(const std::string& mine) override { return ranks_.gather_all(mine); }
  ddl::Handle start(std::function<void()> work) override { return ranks_.start(std::move(work)); }
  void set_progress(std::uint64_t state) override { ranks_.set_progress(state); }

 private:
  // The part of `data` in front of the sums, and the sums, which reach to the end.
  struct Cut {
    std::span<float> own;
    std::span<float> summed;
  };
  Cut cut(std::span<float> data) const;

  Communicator& ranks_;
  std::span<const float> summed_;
};

// GPU of a rank among those visible: by the local rank, or the only one.
int choose_gpu(int local_rank, int visible);

// The GPU of each rank, and the reason why they cannot form an NCCL group; "" if they can. Ranks without a
// GPU leave it empty.
struct RankGpu {
  std::string host;
  std::string name;  // "GPU 0 (NVIDIA H200, 0000:3b:00.0)"
  bool has_nccl = false;
};
std::string find_nccl_obstacle(const std::vector<RankGpu>& gpus);

}  // namespace ddlrun::runtime
