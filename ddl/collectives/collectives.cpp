// SPDX-License-Identifier: MIT
#include "ddl/collectives/collectives.hpp"

#include "ddl/core/checks.hpp"
#include "ddl/core/rank_consistency.hpp"
#include "ddl/core/split_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ddl {
namespace {

std::vector<PeerComm*> pointers(const std::vector<std::unique_ptr<PeerComm>>& comms) {
  std::vector<PeerComm*> all;
  for (const auto& comm : comms) all.push_back(comm.get());
  return all;
}

}  // namespace

Collectives::Collectives(Transport& transport, const Grid& grid, const Options& options, CallFamily& family,
                         const RankGroup& group)
    : transport_(transport),
      grid_(grid),
      options_(options),
      place_(grid.place(transport.rank())),
      family_(family),
      group_(group),
      node_comm_(transport.make_node_comm(grid)),
      buffers_(*node_comm_),
      node_(*node_comm_, options.timeout_seconds, group.suffix()),
      comms_(transport.make_level_comms(grid, options.timeout_seconds)),
      monitor_(transport, grid, report_interval(options), comms_),
      comm_pointers_(pointers(comms_)),
      tuner_({transport.rank() == 0 ? options.cache_dir.value_or("") : "",
              render_topology(grid, options, kernel_name())}) {
  node_.set_stall_watch(family_.active_call.name_stalls(options_.stall));
  for (const auto& comm : comms_) prepare(*comm);
  use_inspector();
  family_.members.push_back(this);
  if (options.mode == Mode::explore && transport.size() > 1) tuner_.load(transport);
}

Collectives::~Collectives() {
  std::erase(family_.members, this);
  family_.active_call.forget(group_);
}

void Collectives::prepare(PeerComm& comm) {
  comm.set_stall_watch(family_.active_call.name_stalls(options_.stall));
  comm.set_call_namer([this] { return family_.active_call.name(); });
}

void Collectives::use_inspector() {
  if (!family_.inspector) return;
  std::vector<int> ranks;
  for (const int rank : place_.local_ranks) ranks.push_back(grid_.first_rank_of(rank));
  node_.set_inspector(family_.inspector.get(), std::move(ranks));
  for (const auto& comm : comms_) comm->set_inspector(family_.inspector.get());
  if (global_comm_) global_comm_->set_inspector(family_.inspector.get());
}

Reduction Collectives::reduction_of(const Tensor& tensor, Operation operation, int ranks) {
  check_operation(tensor, operation);
  return {tensor.type, operation, operation == Operation::average ? 1.0 / ranks : 1.0};
}

Collectives::Request Collectives::make_request(OpType op, const Tensor& tensor, int detail,
                                               std::uint64_t number, std::size_t tensors) {
  check_tensor(tensor);
  const std::uint64_t numbers[] = {number,
                                   static_cast<std::uint64_t>(op),
                                   tensor.count,
                                   static_cast<std::uint64_t>(tensor.type),
                                   static_cast<std::uint64_t>(detail),
                                   tensors};
  Request request;
  request.call = {number, hash_text(tensor.name, hash_numbers(numbers)), op, tensor.name,
                  recorded_detail(detail)};
  family_.active_call.begin({op, request.call, tensor.count, tensor.type, 0}, tensor, group_);
  request.options.signature = static_cast<std::uint32_t>(request.call.signature);
  request.options.wire_dtype = options_.wire;
  return request;
}

// By the name and the tensor that the program gave the call, whatever part of it this is.
void Collectives::rendezvous_whole(const Tensor& tensor, const Request& request) {
  node_.rendezvous(
      {request.call.program.value_or(OpType::barrier), request.call, tensor.count, tensor.type, 0});
}

// An update's exception, or no memory: the others would wait for this rank.
void Collectives::broadcast_exception(const std::exception& error) {
  const std::string me = grid_.name_of(transport_.rank());
  broadcast_error({Fault::lost,
                   fmt::format("{} failed in {}: {}", me, family_.active_call.name(), error.what()), me,
                   "look for that rank's own message"});
}

void Collectives::all_reduce(const Tensor& tensor, Operation operation, std::uint64_t number) {
  const Reduction reduction = reduction_of(tensor, operation, transport_.size());
  const Request request = make_request(OpType::all_reduce, tensor, static_cast<int>(operation), number);
  guarded([&] {
    monitor_.run(
        tensor.bytes(), [&] { rendezvous_whole(tensor, request); },
        [&] {
          if (options_.mode == Mode::explore) {
            tuner_.run(
                tensor.bytes(), [&](Mode mode) { sum_by(mode, tensor, reduction, request); },
                [&](const Tensor& times) {
                  sum_over_nodes(times, {DataType::float64, Operation::max, 1.0}, request);
                });
          } else {
            sum_by(options_.mode, tensor, reduction, request);
          }
        });
  });
}

InterNodeAlgorithm Collectives::algorithm_of(Mode mode) {
  return mode == Mode::ring ? InterNodeAlgorithm::ring : InterNodeAlgorithm::best;
}

void Collectives::sum_by(Mode mode, const Tensor& tensor, const Reduction& reduction,
                         const Request& request) {
  if (is_alone()) return;
  if (mode == Mode::mpi) return sum_natively(tensor, reduction, request);
  Request by_mode = request;
  by_mode.options.algorithm = algorithm_of(mode);
  sum_over_nodes(tensor, reduction, by_mode);
}

// Types that the transport cannot add go over the nodes.
void Collectives::sum_natively(const Tensor& tensor, const Reduction& reduction, const Request& request) {
  native_result_.resize(tensor.bytes());
  if (!transport_.native_all_reduce(tensor.data, native_result_.data(), tensor.count, tensor.type,
                                    reduction.operation))
    return sum_over_nodes(tensor, reduction, request);
  const std::byte* const source[] = {native_result_.data()};
  std::byte* const out[] = {tensor.data};
  ddl::reduce(reduction, source, out, tensor.count);
}

// No rank has the sums before all ranks have called: each may update its slice at once.
void Collectives::update_natively(const Tensor& tensor, const Reduction& reduction, const Request& request,
                                  const Context::Update& update) {
  sum_natively(tensor, reduction, request);
  const Slice slice = node_.slice(tensor.count, tensor.type);
  update(slice.begin, slice.count, tensor.data + slice.begin * size_of(tensor.type));
  rendezvous_whole(tensor, request);
}

void Collectives::sum(OpType op, const Tensor& tensor, std::uint64_t number) {
  const Request request = make_request(op, tensor, static_cast<int>(Operation::sum), number);
  guarded([&] { sum_over_nodes(tensor, reduction_of(tensor, Operation::sum, transport_.size()), request); });
}

// Added up before the last level.
double Collectives::partial_ranks() const {
  double ranks = node_.local_size();
  for (std::size_t i = 0; i + 1 < comms_.size(); ++i) ranks *= comms_[i]->size();
  return ranks;
}

void Collectives::sum_over_nodes(const Tensor& tensor, const Reduction& reduction, const Request& request) {
  if (is_alone()) return;
  if (comms_.empty() && node_.is_small(tensor.bytes()))
    return node_.all_reduce(tensor.data, tensor.count, reduction, request.call);
  const std::optional<SharedRange> range = buffers_.find(tensor);
  if (comms_.empty()) {
    if (range) return node_.all_reduce(*range, reduction, request.call);
    return node_.all_reduce(tensor.data, tensor.count, reduction, request.call);
  }
  const Slice slice = node_.slice(tensor.count, tensor.type);
  std::byte* const mine = tensor.data + slice.begin * size_of(tensor.type);
  const SplitReduction split = split_scale(reduction, partial_ranks(), request.options.wire_dtype);
  if (range) {
    node_.begin_reduce(*range, reduction, request.call);
    PipelineHooks host = reduce_hooks(*range, split.node);
    host.consume = [&](std::size_t first, std::size_t count) {
      node_.scatter_result(*range, {slice.begin + first, count});
    };
    ddl::all_reduce(comms(), split.between, mine, slice.count, request.options, scratch_, host);
    return node_.finish_scatter(*range, request.call);
  }
  node_.reduce_scatter(tensor.data, tensor.count, split.node, request.call);
  ddl::all_reduce(comms(), split.between, mine, slice.count, request.options, scratch_);
  node_.all_gather(tensor.data, tensor.count, tensor.type, request.call);
}

// While a stretch of my slice is on the wires, the host's sum of the next one is made.
PipelineHooks Collectives::reduce_hooks(const SharedRange& range, const Reduction& here) {
  const std::size_t begin = node_.slice(range.count, range.type).begin;
  return {[this, &range, here, begin](std::size_t first, std::size_t count) {
            node_.reduce_chunk(range, here, {begin + first, count});
          },
          {}};
}

void Collectives::all_reduce_n(std::span<const Tensor> tensors, Operation operation, std::uint64_t number) {
  for (const Tensor& tensor : tensors) {
    check_tensor(tensor);
    check_operation(tensor, operation);
  }
  if (is_alone()) return;
  for (const std::vector<Tensor>& group : TensorPacker::group(tensors)) {
    if (!TensorPacker::is_small(group.front())) {
      all_reduce(group.front(), operation, number);
      continue;
    }
    const Reduction reduction = reduction_of(group.front(), operation, transport_.size());
    const Request request =
        make_request(OpType::all_reduce_n, group.front(), static_cast<int>(operation), number, group.size());
    const Tensor packed = packer_.pack(group);
    guarded([&] { sum_by(options_.mode, packed, reduction, request); });
    packer_.unpack(group);
  }
}

void Collectives::all_reduce_update(const Tensor& tensor, Operation operation, std::uint64_t number,
                                    const Context::Update& update) {
  if (!update)
    throw Error(Fault::usage, "all_reduce_update has no update function", tensor.name,
                "a function for the sums, or all_reduce");
  const Reduction reduction = reduction_of(tensor, operation, transport_.size());
  const Request request =
      make_request(OpType::all_reduce_update, tensor, static_cast<int>(operation), number);
  guarded([&] {
    monitor_.run(
        tensor.bytes(), [&] { rendezvous_whole(tensor, request); },
        [&] {
          if (options_.mode == Mode::mpi) {
            update_natively(tensor, reduction, request, update);
          } else {
            update_once_per_node(tensor, reduction, request, update);
          }
        });
  });
}

void Collectives::update_once_per_node(const Tensor& tensor, const Reduction& reduction,
                                       const Request& request, const Context::Update& update) {
  const std::optional<SharedRange> range = buffers_.find(tensor);
  if (range && comms_.empty()) {
    return node_.reduce_update(
        *range, reduction, request.call,
        [&](const Slice& block, const std::byte* sums) { update(block.begin, block.count, sums); });
  }
  const Slice slice = node_.slice(tensor.count, tensor.type);
  std::byte* const mine = tensor.data + slice.begin * size_of(tensor.type);
  InterNodeOptions how = request.options;
  how.algorithm = algorithm_of(options_.mode);
  const SplitReduction split = split_scale(reduction, partial_ranks(), how.wire_dtype);
  PipelineHooks host;
  if (range) {
    node_.begin_reduce(*range, reduction, request.call);
    host = reduce_hooks(*range, split.node);
  } else {
    node_.reduce_scatter(tensor.data, tensor.count, comms_.empty() ? reduction : split.node, request.call);
  }
  host.consume = [&](std::size_t first, std::size_t count) {
    update(slice.begin + first, count, mine + first * size_of(tensor.type));
  };
  if (comms_.empty())
    host.consume(0, slice.count);
  else
    ddl::all_reduce(comms(), split.between, mine, slice.count, how, scratch_, host);
  rendezvous_whole(tensor, request);
}

// First the root's counterparts on the other hosts, then everyone on each host.
void Collectives::broadcast(const Tensor& tensor, int root, std::uint64_t number) {
  check_root(tensor, root, transport_.size());
  const auto at = static_cast<std::size_t>(root);
  const Request request = make_request(OpType::broadcast, tensor, root, number);
  guarded([&] {
    if (is_alone()) return;
    if (place_.local_rank == grid_.local_rank_of[at]) {
      InterNodeOptions exact = request.options;
      exact.wire_dtype.reset();
      ddl::broadcast(comms(), grid_.position_of(grid_.host_of[at]), {tensor.data, tensor.bytes()}, exact);
    }
    if (const auto range = buffers_.find(tensor)) {
      node_.broadcast(*range, grid_.local_rank_of[at], request.call);
    } else {
      node_.broadcast(tensor.data, tensor.count, tensor.type, grid_.local_rank_of[at], request.call);
    }
  });
}

PeerComm& Collectives::global_comm() {
  if (!global_comm_) {
    global_comm_ = transport_.make_global_comm(grid_, options_.timeout_seconds);
    prepare(*global_comm_);
    global_comm_->set_inspector(family_.inspector.get());
  }
  return *global_comm_;
}

void Collectives::reduce_scatter(const Tensor& in, const Tensor& out, Operation operation,
                                 std::uint64_t number) {
  const auto rank = static_cast<std::size_t>(transport_.rank());
  check_tensor(in);
  check_tensor(out);
  check_reduce_scatter(in, out, transport_.size());
  const Reduction reduction = reduction_of(in, operation, transport_.size());
  const Request request = make_request(OpType::reduce_scatter, in, static_cast<int>(operation), number);
  guarded([&] {
    if (is_alone()) return copy_tensor(in, out);
    if (comms_.empty()) {
      const std::shared_ptr<SharedBuffer> block = exchange_buffer(in, request);
      std::vector<const std::byte*> sources;
      for (int r = 0; r < node_.local_size(); ++r)
        sources.push_back(block->part(r).data() + rank * out.bytes());
      std::copy_n(in.data, in.bytes(), block->part(node_.local_rank()).data());
      rendezvous_whole(in, request);
      std::byte* const destination[] = {out.data};
      ddl::reduce(reduction, sources, destination, out.count);
      return rendezvous_whole(in, request);
    }
    packed_.assign(in.data, in.data + in.bytes());
    PeerComm* comm = &global_comm();
    ddl::reduce_scatter({&comm, 1}, reduction, packed_.data(), in.count, request.options, scratch_);
    std::copy_n(packed_.data() + rank * out.bytes(), out.bytes(), out.data);
  });
}

// Shared memory for a tensor like this of each rank; all are known to ask for the same before it is made.
std::shared_ptr<SharedBuffer> Collectives::exchange_buffer(const Tensor& tensor, const Request& request) {
  if (!exchange_ || exchange_->part(0).size() < tensor.bytes()) {
    rendezvous_whole(tensor, request);
    exchange_ = buffers_.allocate(tensor.bytes());
  }
  return exchange_;
}

// The `in` of all ranks to `out`, on ranks that have one.
void Collectives::gather_on_host(const Tensor& in, std::byte* out, const Request& request) {
  const std::size_t bytes = in.bytes();
  const std::shared_ptr<SharedBuffer> block = exchange_buffer(in, request);
  std::copy_n(in.data, bytes, block->part(node_.local_rank()).data());
  rendezvous_whole(in, request);
  for (int r = 0; r < node_.local_size() && out != nullptr; ++r)
    std::copy_n(block->part(r).data(), bytes, out + static_cast<std::size_t>(r) * bytes);
  rendezvous_whole(in, request);
}

void Collectives::all_gather(const Tensor& in, const Tensor& out, std::uint64_t number) {
  check_tensor(in);
  check_tensor(out);
  check_all_gather(in, out, transport_.size());
  const Request request = make_request(OpType::all_gather, in, 0, number);
  guarded([&] {
    if (is_alone()) return copy_tensor(in, out);
    if (comms_.empty()) return gather_on_host(in, out.data, request);
    std::copy_n(in.data, in.bytes(), out.data + static_cast<std::size_t>(transport_.rank()) * in.bytes());
    InterNodeOptions exact = request.options;
    exact.wire_dtype.reset();
    PeerComm* comm = &global_comm();
    ddl::all_gather({&comm, 1}, out.type, out.data, out.count, exact, scratch_);
  });
}

void Collectives::rendezvous_to_allocate(std::size_t bytes, bool one_each, std::uint64_t number) {
  const Tensor nothing;
  Request request = make_request(one_each ? OpType::allocate : OpType::allocate_for_host, nothing, 0, number);
  const std::uint64_t numbers[] = {request.call.signature, bytes};
  request.call.signature = hash_numbers(numbers);
  const CallInfo info{OpType::allocate, request.call, bytes, DataType::float32, 0};
  guarded([&] { node_.rendezvous(info); });
}

// Who has passed the wires knows that each counterpart has passed its host's barrier.
void Collectives::barrier(std::uint64_t number) {
  const Tensor nothing;
  const Request request = make_request(OpType::barrier, nothing, 0, number);
  guarded([&] {
    node_.barrier(request.call);
    ddl::barrier(comms(), request.options);
  });
}

}  // namespace ddl
