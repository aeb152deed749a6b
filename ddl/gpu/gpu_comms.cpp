// SPDX-License-Identifier: MIT
#include "ddl/gpu/gpu_comms.hpp"

#include <numeric>

namespace ddl {

std::vector<GpuCommMembers> plan_gpu_comms(const Grid& grid, int rank, bool levels) {
  GpuCommMembers all{rank, std::vector<int>(grid.host_of.size())};
  std::iota(all.ranks.begin(), all.ranks.end(), 0);
  std::vector<GpuCommMembers> plan{all};
  const Place place = grid.place(rank);
  if (!levels || place.levels.empty()) return plan;
  plan.push_back({place.local_rank, place.local_ranks});
  for (const Level& level : place.levels) plan.push_back({level.me, level.ranks});
  return plan;
}

GpuComms::GpuComms(Gpu& gpu, const std::vector<GpuCommMembers>& plan, const std::vector<std::string>& ids,
                   Wait wait)
    : wait_(std::move(wait)) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    comms_.push_back({plan[i], gpu.join(ids[i], plan[i].me, static_cast<int>(plan[i].ranks.size()))});
    GpuComm& nccl = *comms_.back().nccl;
    wait_([&] { return nccl.is_idle(); });
    if (const std::string fault = nccl.fault(); !fault.empty())
      throw Error(Fault::lost, "the GPUs cannot be connected: " + fault, "NCCL",
                  "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET; ddlrun doctor");
  }
}

// One launch for all that `work` calls.
template <typename Work>
void GpuComms::together(Group& group, const Work& work) {
  group.nccl->begin();
  try {
    work(*group.nccl);
  } catch (...) {
    try {
      group.nccl->end();      // NCCL counts them
    } catch (const Error&) {  // the first one is reported
    }
    throw;
  }
  group.nccl->end();
  wait_([&] { return group.nccl->is_idle(); });
}

void GpuComms::all_reduce(std::span<const Tensor> tensors, Operation operation) {
  if (comms_.size() > 1) return all_reduce_by_levels(tensors, operation);
  together(comms_.front(), [&](GpuComm& nccl) {
    for (const Tensor& each : tensors)
      if (each.count > 0) nccl.all_reduce(each.data, each.count, each.type, operation);
  });
}

// Each rank of the host has an equal piece; the few elements that are left over go whole over all levels.
// Averages of averages: on each level there are as many everywhere.
void GpuComms::all_reduce_by_levels(std::span<const Tensor> tensors, Operation operation) {
  Group& host = comms_[1];
  const std::size_t local = host.members.ranks.size();
  const auto me = static_cast<std::size_t>(host.members.me);
  const auto piece = [&](const Tensor& each) { return each.count / local; };
  const auto mine = [&](const Tensor& each) { return each.data + me * piece(each) * size_of(each.type); };
  const auto add_rest = [&](GpuComm& nccl, const Tensor& each) {
    const std::size_t whole = piece(each) * local;
    if (whole < each.count)
      nccl.all_reduce(each.data + whole * size_of(each.type), each.count - whole, each.type, operation);
  };
  together(host, [&](GpuComm& nccl) {
    for (const Tensor& each : tensors) {
      if (piece(each) > 0) nccl.reduce_scatter(each.data, mine(each), piece(each), each.type, operation);
      add_rest(nccl, each);
    }
  });
  for (std::size_t level = 2; level < comms_.size(); ++level) {
    together(comms_[level], [&](GpuComm& nccl) {
      for (const Tensor& each : tensors) {
        if (piece(each) > 0) nccl.all_reduce(mine(each), piece(each), each.type, operation);
        add_rest(nccl, each);
      }
    });
  }
  together(host, [&](GpuComm& nccl) {
    for (const Tensor& each : tensors)
      if (piece(each) > 0) nccl.all_gather(mine(each), each.data, piece(each), each.type);
  });
}

void GpuComms::broadcast(const Tensor& tensor, int root) {
  if (tensor.count == 0) return;
  together(comms_.front(),
           [&](GpuComm& nccl) { nccl.broadcast(tensor.data, tensor.count, tensor.type, root); });
}

void GpuComms::reduce(const Tensor& tensor, Operation operation, int root) {
  if (tensor.count == 0) return;
  together(comms_.front(),
           [&](GpuComm& nccl) { nccl.reduce(tensor.data, tensor.count, tensor.type, operation, root); });
}

void GpuComms::reduce_scatter(const Tensor& in, const Tensor& out, Operation operation) {
  if (out.count == 0) return;
  together(comms_.front(),
           [&](GpuComm& nccl) { nccl.reduce_scatter(in.data, out.data, out.count, in.type, operation); });
}

void GpuComms::all_gather(const Tensor& in, const Tensor& out) {
  if (in.count == 0) return;
  together(comms_.front(), [&](GpuComm& nccl) { nccl.all_gather(in.data, out.data, in.count, in.type); });
}

std::string GpuComms::fault() const {
  for (const Group& group : comms_) {
    if (std::string fault = group.nccl->fault(); !fault.empty()) return fault;
  }
  return "";
}

void GpuComms::finish() {
  for (Group& group : comms_) {
    group.nccl->finish();
    wait_([&] { return group.nccl->is_idle(); });
  }
}

void GpuComms::abort() noexcept {
  for (Group& group : comms_) group.nccl->abort();
}

}  // namespace ddl
