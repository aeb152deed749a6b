// SPDX-License-Identifier: MIT
// Calls with a root: one rank gets the sum or the elements of all ranks, or sends each rank its part.
#include "ddl/collectives/collectives.hpp"
#include "ddl/core/checks.hpp"
#include "ddl/core/split_scale.hpp"

#include <algorithm>

namespace ddl {

// Only the root's tensor changes: other ranks add up in memory of libddl's.
void Collectives::reduce(const Tensor& tensor, Operation operation, int root, std::uint64_t number) {
  check_root(tensor, root, transport_.size(), "reduce(tensor, Operation::sum");
  const Reduction reduction = reduction_of(tensor, operation, transport_.size());
  const Request request = make_request(OpType::reduce, tensor, rooted_detail(operation, root), number);
  guarded([&] {
    if (is_alone()) return;
    const int local_root = grid_.local_rank_of[static_cast<std::size_t>(root)];
    const std::optional<SharedRange> range = buffers_.find(tensor);
    if (!comms_.empty()) {
      if (range) return reduce_shared_over_nodes(*range, reduction, root, request);
      return reduce_over_nodes(tensor, reduction, root, request);
    }
    if (range) return node_.reduce(*range, reduction, local_root, request.call);
    node_.reduce(tensor.data, tensor.count, reduction, local_root, request.call);
  });
}

// My slice of the host's sum to the rank with this slice on the root's host.
void Collectives::reduce_slice_to(int root, const Reduction& between, std::byte* sums, std::size_t count,
                                  const Request& request) {
  const std::vector<int> position = grid_.position_of(grid_.host_of[static_cast<std::size_t>(root)]);
  ddl::reduce(comms(), between, position, sums, count, request.options, scratch_);
}

bool Collectives::is_on_host_of(int rank) const {
  return grid_.host_of[static_cast<std::size_t>(rank)] == place_.host;
}

void Collectives::reduce_shared_over_nodes(const SharedRange& range, const Reduction& reduction, int root,
                                           const Request& request) {
  const SplitReduction split = split_scale(reduction, partial_ranks(), request.options.wire_dtype);
  const Slice slice = node_.slice(range.count, range.type);
  const std::size_t unit = size_of(range.type);
  packed_.resize(slice.count * unit);
  node_.begin_reduce(range, reduction, request.call);
  node_.reduce_slice(range, split.node, packed_.data());
  reduce_slice_to(root, split.between, packed_.data(), slice.count, request);
  if (is_on_host_of(root)) {
    const auto at = static_cast<std::size_t>(grid_.local_rank_of[static_cast<std::size_t>(root)]);
    std::copy(packed_.begin(), packed_.end(), range.parts[at] + slice.begin * unit);
  }
  node_.finish_scatter(range, request.call);
}

void Collectives::reduce_over_nodes(const Tensor& tensor, const Reduction& reduction, int root,
                                    const Request& request) {
  const SplitReduction split = split_scale(reduction, partial_ranks(), request.options.wire_dtype);
  std::byte* sums = tensor.data;
  if (transport_.rank() != root) {
    packed_.assign(tensor.data, tensor.data + tensor.bytes());
    sums = packed_.data();
  }
  const Slice slice = node_.slice(tensor.count, tensor.type);
  node_.reduce_scatter(sums, tensor.count, split.node, request.call);
  reduce_slice_to(root, split.between, sums + slice.begin * size_of(tensor.type), slice.count, request);
  if (is_on_host_of(root))
    node_.gather(sums, tensor.count, tensor.type, grid_.local_rank_of[static_cast<std::size_t>(root)],
                 request.call);
}

void Collectives::scatter(const Tensor& in, const Tensor& out, int root, std::uint64_t number) {
  const bool is_root = transport_.rank() == root;
  check_tensor(out);
  check_root(out, root, transport_.size(), "scatter(in, out");
  if (is_root) check_scatter(in, out, transport_.size());
  const Request request = make_request(OpType::scatter, out, root, number);
  const std::size_t bytes = out.bytes();
  guarded([&] {
    if (is_alone()) return copy_tensor(in, out);
    if (!comms_.empty())
      return ddl::scatter(global_comm(), root, {in.data, is_root ? in.bytes() : 0}, {out.data, bytes},
                          request.options);
    const std::shared_ptr<SharedBuffer> block = exchange_buffer(out, request);
    for (int r = 0; r < node_.local_size() && is_root; ++r)
      std::copy_n(in.data + static_cast<std::size_t>(r) * bytes, bytes, block->part(r).data());
    rendezvous_whole(out, request);
    std::copy_n(block->part(node_.local_rank()).data(), bytes, out.data);
    rendezvous_whole(out, request);
  });
}

void Collectives::gather(const Tensor& in, const Tensor& out, int root, std::uint64_t number) {
  const bool is_root = transport_.rank() == root;
  check_tensor(in);
  check_root(in, root, transport_.size(), "gather(in, out");
  if (is_root) check_gather(in, out, transport_.size());
  const Request request = make_request(OpType::gather_tensor, in, root, number);
  guarded([&] {
    if (is_alone()) return copy_tensor(in, out);
    if (comms_.empty()) return gather_on_host(in, is_root ? out.data : nullptr, request);
    ddl::gather(global_comm(), root, {out.data, is_root ? out.bytes() : 0}, {in.data, in.bytes()},
                request.options);
  });
}

}  // namespace ddl
