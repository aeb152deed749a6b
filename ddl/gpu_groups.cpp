// SPDX-License-Identifier: MIT
#include "ddl/gpu_groups.hpp"

#include <numeric>

namespace ddl {

std::vector<GpuMembers> plan_gpu_groups(const Grid& grid, int rank, bool levels) {
  GpuMembers all{rank, std::vector<int>(grid.host_of.size())};
  std::iota(all.ranks.begin(), all.ranks.end(), 0);
  std::vector<GpuMembers> plan{all};
  const Place place = grid.place(rank);
  if (!levels || place.levels.empty()) return plan;
  plan.push_back({place.local_rank, place.local_ranks});
  for (const Level& level : place.levels) plan.push_back({level.me, level.ranks});
  return plan;
}

GpuGroups::GpuGroups(Gpu& gpu, const std::vector<GpuMembers>& plan, const std::vector<std::string>& ids,
                     Wait wait)
    : wait_(std::move(wait)) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    groups_.push_back({plan[i], gpu.join(ids[i], plan[i].me, static_cast<int>(plan[i].ranks.size()))});
    GpuGroup& nccl = *groups_.back().nccl;
    wait_([&] { return nccl.settled(); });
    if (const std::string fault = nccl.fault(); !fault.empty())
      throw Error(Fault::lost, "the GPUs cannot be connected: " + fault, "NCCL",
                  "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET; ddlrun doctor");
  }
}

// One launch for all that `work` calls.
template <typename Work>
void GpuGroups::together(Group& group, const Work& work) {
  group.nccl->begin();
  try {
    work(*group.nccl);
  } catch (...) {
    try {
      group.nccl->end();      // NCCL counts them
    } catch (const Error&) {  // the first one is told
    }
    throw;
  }
  group.nccl->end();
  wait_([&] { return group.nccl->settled(); });
}

void GpuGroups::all_reduce(std::span<const Tensor> tensors, Operation operation) {
  if (groups_.size() > 1) return all_reduce_by_levels(tensors, operation);
  together(groups_.front(), [&](GpuGroup& nccl) {
    for (const Tensor& each : tensors)
      if (each.count > 0) nccl.all_reduce(each.data, each.count, each.type, operation);
  });
}

// Each rank of the host has an equal piece; the few elements that are left over go whole over all levels.
// Averages of averages: on each level there are as many everywhere.
void GpuGroups::all_reduce_by_levels(std::span<const Tensor> tensors, Operation operation) {
  Group& host = groups_[1];
  const std::size_t local = host.members.ranks.size();
  const auto me = static_cast<std::size_t>(host.members.me);
  const auto piece = [&](const Tensor& each) { return each.count / local; };
  const auto mine = [&](const Tensor& each) { return each.data + me * piece(each) * size_of(each.type); };
  const auto add_rest = [&](GpuGroup& nccl, const Tensor& each) {
    const std::size_t whole = piece(each) * local;
    if (whole < each.count)
      nccl.all_reduce(each.data + whole * size_of(each.type), each.count - whole, each.type, operation);
  };
  together(host, [&](GpuGroup& nccl) {
    for (const Tensor& each : tensors) {
      if (piece(each) > 0) nccl.reduce_scatter(each.data, mine(each), piece(each), each.type, operation);
      add_rest(nccl, each);
    }
  });
  for (std::size_t level = 2; level < groups_.size(); ++level) {
    together(groups_[level], [&](GpuGroup& nccl) {
      for (const Tensor& each : tensors) {
        if (piece(each) > 0) nccl.all_reduce(mine(each), piece(each), each.type, operation);
        add_rest(nccl, each);
      }
    });
  }
  together(host, [&](GpuGroup& nccl) {
    for (const Tensor& each : tensors)
      if (piece(each) > 0) nccl.all_gather(mine(each), each.data, piece(each), each.type);
  });
}

void GpuGroups::broadcast(const Tensor& tensor, int root) {
  if (tensor.count == 0) return;
  together(groups_.front(),
           [&](GpuGroup& nccl) { nccl.broadcast(tensor.data, tensor.count, tensor.type, root); });
}

void GpuGroups::reduce_scatter(const Tensor& in, const Tensor& out, Operation operation) {
  if (out.count == 0) return;
  together(groups_.front(),
           [&](GpuGroup& nccl) { nccl.reduce_scatter(in.data, out.data, out.count, in.type, operation); });
}

void GpuGroups::all_gather(const Tensor& in, const Tensor& out) {
  if (in.count == 0) return;
  together(groups_.front(), [&](GpuGroup& nccl) { nccl.all_gather(in.data, out.data, in.count, in.type); });
}

std::string GpuGroups::fault() const {
  for (const Group& group : groups_) {
    if (std::string fault = group.nccl->fault(); !fault.empty()) return fault;
  }
  return "";
}

void GpuGroups::finish() {
  for (Group& group : groups_) {
    group.nccl->finish();
    wait_([&] { return group.nccl->settled(); });
  }
}

void GpuGroups::abort() noexcept {
  for (Group& group : groups_) group.nccl->abort();
}

}  // namespace ddl
