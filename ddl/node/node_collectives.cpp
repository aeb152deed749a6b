// SPDX-License-Identifier: MIT
#include "ddl/node/node_collectives.hpp"

#include "ddl/core/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace ddl {
namespace {

// A buffer of the arena: two of each rank fit its second-level cache.
constexpr std::size_t chunk_bytes = 256 << 10;
constexpr int buffers = 3;
// Up to here every rank adds up everything itself: that saves a meeting, which costs more where ranks share
// cores.
constexpr std::size_t small_bytes = 4 << 10;
constexpr std::size_t small_bytes_oversubscribed = 16 << 10;
// Private memory: up to this number of ranks reading all is less than writing sums for others to read.
constexpr int max_ranks_direct = 3;
// Sums for reduce_update: they stay in the first-level cache until they are used.
constexpr std::size_t update_bytes = 16 << 10;

std::size_t steps_of(std::size_t count, std::size_t each) {
  return std::max<std::size_t>(1, (count + each - 1) / each);
}

}  // namespace

struct NodeCollectives::Impl {
  Impl(NodeComm& node_comm, double timeout_seconds, std::string suffix);

  NodeComm& group;
  int rank;
  int size;
  std::shared_ptr<SharedBuffer> arena;
  NodeBarrier barrier;
  std::size_t small;
  // Buffers are used in turn, one each meeting: what was written in a turn has been read when its buffer
  // comes round.
  std::uint64_t turn = 0;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> destinations;

  std::byte* buffer(int of_rank, std::uint64_t of_turn) const {
    return arena->part(of_rank).data() + round_up(NodeBarrier::bytes_needed(), page_bytes) +
           of_turn % buffers * chunk_bytes;
  }
  std::byte* my_buffer() const { return buffer(rank, turn); }

  // sources[r] = at(r) for all ranks, added up into the one place or into destinations.
  template <typename At>
  void add_up(const Reduction& reduction, const At& at, std::byte* into, std::size_t count) {
    for (int r = 0; r < size; ++r) sources[static_cast<std::size_t>(r)] = at(r);
    ddl::reduce(reduction, sources, {&into, 1}, count);
  }

  // `chunk` of all parts of `range`, added up.
  void add_up_parts(const SharedRange& range, const Reduction& reduction, const Slice& chunk,
                    std::byte* into) {
    const std::size_t at = chunk.begin * size_of(range.type);
    add_up(
        reduction, [&](int r) { return range.parts[static_cast<std::size_t>(r)] + at; }, into, chunk.count);
  }

  // `takes`: this rank gets the sum; else `data` stays as it is.
  void all_reduce_staged(std::byte* data, std::size_t count, const Reduction& reduction, const CallInfo& info,
                         bool takes);
  void all_reduce_direct(std::byte* data, std::size_t count, const Reduction& reduction, const CallInfo& info,
                         bool takes);
  void all_reduce_sliced(std::byte* data, std::size_t count, const Reduction& reduction, const CallInfo& info,
                         bool takes);
  void gather_slices(std::byte* data, std::size_t count, const CallInfo& info, bool takes);
  void copy_out_slices(std::byte* data, std::size_t count, DataType type, std::uint64_t of_turn) const;
  Slice slice_of(int of_rank, std::size_t count, DataType type) const;
};

NodeCollectives::Impl::Impl(NodeComm& node_comm, double timeout_seconds, std::string suffix)
    : group(node_comm),
      rank(group.local_rank()),
      size(group.local_size()),
      arena(group.allocate(round_up(NodeBarrier::bytes_needed(), page_bytes) + buffers * chunk_bytes)),
      barrier(group, arena, timeout_seconds, std::move(suffix)),
      small(barrier.oversubscribed() ? small_bytes_oversubscribed : small_bytes),
      sources(static_cast<std::size_t>(size)),
      destinations(static_cast<std::size_t>(size)) {}

Slice NodeCollectives::Impl::slice_of(int of_rank, std::size_t count, DataType type) const {
  const std::size_t per_line = line_bytes / size_of(type);
  const std::size_t lines = (count + per_line - 1) / per_line;
  const auto ranks = static_cast<std::size_t>(size);
  const auto cut = [&](std::size_t r) {
    return std::min(count, (lines / ranks * r + std::min(r, lines % ranks)) * per_line);
  };
  const std::size_t begin = cut(static_cast<std::size_t>(of_rank));
  return {begin, cut(static_cast<std::size_t>(of_rank) + 1) - begin};
}

NodeCollectives::NodeCollectives(NodeComm& group, double timeout_seconds, std::string suffix)
    : impl_(new Impl(group, timeout_seconds, std::move(suffix))) {}
NodeCollectives::~NodeCollectives() = default;

int NodeCollectives::local_rank() const { return impl_->rank; }
int NodeCollectives::local_size() const { return impl_->size; }
Slice NodeCollectives::slice(std::size_t count, DataType type) const {
  return impl_->slice_of(impl_->rank, count, type);
}
Slice NodeCollectives::slice_of(int local_rank, std::size_t count, DataType type) const {
  return impl_->slice_of(local_rank, count, type);
}

bool NodeCollectives::is_small(std::size_t bytes) const { return bytes <= impl_->small; }

void NodeCollectives::report_failure(const Error& error) noexcept { impl_->barrier.report_failure(error); }
void NodeCollectives::set_inspector(LivenessInspector* inspector, std::vector<int> ranks) {
  impl_->barrier.set_inspector(inspector, std::move(ranks));
}
void NodeCollectives::set_stall_watch(StallWatch watch) { impl_->barrier.set_stall_watch(std::move(watch)); }
void NodeCollectives::set_progress(std::uint64_t state) noexcept { impl_->barrier.set_progress(state); }
void NodeCollectives::end(ContextEnd how) noexcept { impl_->barrier.end(how); }

void NodeCollectives::rendezvous(const CallInfo& info) { impl_->barrier.rendezvous(info); }
void NodeCollectives::check_errors() const { impl_->barrier.check_errors(); }

void NodeCollectives::barrier(const CallId& call) {
  impl_->barrier.rendezvous({OpType::barrier, call, 0, DataType::float32, 0});
}

// ---- where the numbers lie in a SharedBuffer

void NodeCollectives::begin_reduce(const SharedRange& range, const Reduction& reduction, const CallId& call) {
  impl_->barrier.rendezvous({OpType::reduce_scatter, call, range.count, range.type,
                             static_cast<std::uint16_t>(reduction.operation)});
}

void NodeCollectives::reduce_chunk(const SharedRange& range, const Reduction& reduction, const Slice& chunk) {
  std::byte* own = range.parts[static_cast<std::size_t>(impl_->rank)];
  impl_->add_up_parts(range, reduction, chunk, own + chunk.begin * size_of(range.type));
}

void NodeCollectives::scatter_result(const SharedRange& range, const Slice& chunk) {
  const Impl& impl = *impl_;
  const std::size_t at = chunk.begin * size_of(range.type);
  const std::size_t bytes = chunk.count * size_of(range.type);
  const std::byte* from = range.parts[static_cast<std::size_t>(impl.rank)] + at;
  for (int step = 1; bytes != 0 && step < impl.size; ++step) {  // each rank begins with its neighbour
    std::memcpy(range.parts[static_cast<std::size_t>((impl.rank + step) % impl.size)] + at, from, bytes);
  }
}

void NodeCollectives::finish_scatter(const SharedRange& range, const CallId& call) {
  impl_->barrier.rendezvous({OpType::all_gather, call, range.count, range.type, 0});
}

void NodeCollectives::reduce_scatter(const SharedRange& range, const Reduction& reduction,
                                     const CallId& call) {
  begin_reduce(range, reduction, call);
  reduce_chunk(range, reduction, slice(range.count, range.type));
}

void NodeCollectives::all_gather(const SharedRange& range, const CallId& call) {
  scatter_result(range, slice(range.count, range.type));
  finish_scatter(range, call);
}

void NodeCollectives::all_reduce(const SharedRange& range, const Reduction& reduction, const CallId& call) {
  Impl& impl = *impl_;
  const CallInfo info{OpType::all_reduce, call, range.count, range.type,
                      static_cast<std::uint16_t>(reduction.operation)};
  std::byte* own = range.parts[static_cast<std::size_t>(impl.rank)];
  const std::size_t bytes = range.count * size_of(range.type);
  if (is_small(bytes)) return impl.all_reduce_direct(own, range.count, reduction, info, true);
  impl.barrier.rendezvous(info);
  const Slice mine = slice(range.count, range.type);
  const std::size_t at = mine.begin * size_of(range.type);
  for (std::size_t r = 0; r < range.parts.size(); ++r) {
    impl.sources[r] = impl.destinations[r] = range.parts[r] + at;
  }
  ddl::reduce(reduction, impl.sources, impl.destinations, mine.count);
  impl.barrier.rendezvous(info);
}

void NodeCollectives::reduce_slice(const SharedRange& range, const Reduction& reduction, std::byte* sums) {
  impl_->add_up_parts(range, reduction, slice(range.count, range.type), sums);
}

void NodeCollectives::reduce(const SharedRange& range, const Reduction& reduction, int root,
                             const CallId& call) {
  Impl& impl = *impl_;
  std::byte* own = range.parts[static_cast<std::size_t>(impl.rank)];
  if (is_small(range.count * size_of(range.type))) return reduce(own, range.count, reduction, root, call);
  const CallInfo info{OpType::reduce, call, range.count, range.type,
                      static_cast<std::uint16_t>(rooted_detail(reduction.operation, root))};
  impl.barrier.rendezvous(info);
  const std::size_t at = slice(range.count, range.type).begin * size_of(range.type);
  reduce_slice(range, reduction, range.parts[static_cast<std::size_t>(root)] + at);
  impl.barrier.rendezvous(info);
}

void NodeCollectives::broadcast(const SharedRange& range, int root, const CallId& call) {
  Impl& impl = *impl_;
  const std::size_t bytes = range.count * size_of(range.type);
  std::byte* own = range.parts[static_cast<std::size_t>(impl.rank)];
  if (bytes <= impl.small) return broadcast(own, range.count, range.type, root, call);
  const CallInfo info{OpType::broadcast, call, range.count, range.type, static_cast<std::uint16_t>(root)};
  impl.barrier.rendezvous(info);
  if (impl.rank != root) std::memcpy(own, range.parts[static_cast<std::size_t>(root)], bytes);
  impl.barrier.rendezvous(info);
}

void NodeCollectives::reduce_update(const SharedRange& range, const Reduction& reduction, const CallId& call,
                                    const Update& update) {
  Impl& impl = *impl_;
  const CallInfo info{OpType::all_reduce_update, call, range.count, range.type,
                      static_cast<std::uint16_t>(reduction.operation)};
  impl.barrier.rendezvous(info);
  const Slice mine = slice(range.count, range.type);
  const std::size_t width = size_of(range.type);
  alignas(line_bytes) std::byte sums[update_bytes];
  try {
    for (std::size_t done = 0; done < mine.count; done += update_bytes / width) {
      const Slice block{mine.begin + done, std::min(mine.count - done, update_bytes / width)};
      impl.add_up_parts(range, reduction, block, sums);
      update(block, sums);
    }
  } catch (const Error& error) {
    report_failure(error);
    throw;
  } catch (const std::exception& error) {
    const std::string name = impl.group.name_of(impl.rank);
    report_failure(Error(Fault::lost, fmt::format("{} failed in its update: {}", name, error.what()), name,
                         "look for that rank's own message"));
    throw;
  }
  impl.barrier.rendezvous(info);
}

// ---- private memory, staged through the arena

// All ranks read what all have copied in, and add it up themselves: one meeting a chunk.
void NodeCollectives::Impl::all_reduce_direct(std::byte* data, std::size_t count, const Reduction& reduction,
                                              const CallInfo& info, bool takes) {
  const std::size_t width = size_of(info.type);
  const std::size_t each = chunk_bytes / width;
  const std::size_t steps = steps_of(count, each);
  for (std::size_t step = 0; step < steps; ++step, ++turn) {
    std::byte* at = data + step * chunk_bytes;
    const std::size_t now = std::min(each, count - step * each);
    if (now != 0 && size > 1) std::memcpy(my_buffer(), at, now * width);
    barrier.rendezvous(info);
    if (!takes) continue;
    add_up(
        reduction, [&](int r) { return r == rank ? at : buffer(r, turn); }, at, now);
  }
}

void NodeCollectives::Impl::copy_out_slices(std::byte* data, std::size_t count, DataType type,
                                            std::uint64_t of_turn) const {
  for (int step = 1; step < size; ++step) {
    const int owner = (rank + step) % size;
    const Slice theirs = slice_of(owner, count, type);
    const std::size_t at = theirs.begin * size_of(type);
    if (theirs.count != 0) std::memcpy(data + at, buffer(owner, of_turn) + at, theirs.count * size_of(type));
  }
}

// Each rank adds up its slice of a chunk, from and to where its own numbers lie, while others still copy
// theirs in or the last one's sums out.
void NodeCollectives::Impl::all_reduce_sliced(std::byte* data, std::size_t count, const Reduction& reduction,
                                              const CallInfo& info, bool takes) {
  const std::size_t width = size_of(info.type);
  const std::size_t each = chunk_bytes / width;
  const std::size_t steps = steps_of(count, each);
  for (std::size_t step = 0; step < steps; ++step, ++turn) {
    const std::size_t now = std::min(each, count - step * each);
    std::byte* const chunk = data + step * chunk_bytes;
    const Slice mine = slice_of(rank, now, info.type);
    const std::size_t at = mine.begin * width;
    const std::size_t end = at + mine.count * width;
    std::memcpy(my_buffer(), chunk, at);
    std::memcpy(my_buffer() + end, chunk + end, now * width - end);
    barrier.rendezvous(info);
    for (int r = 0; r < size; ++r)
      sources[static_cast<std::size_t>(r)] = r == rank ? chunk + at : buffer(r, turn) + at;
    std::byte* const into[] = {my_buffer() + at, chunk + at};
    ddl::reduce(reduction, sources, std::span(into, takes ? 2 : 1), mine.count);
    if (step != 0 && takes) copy_out_slices(data + (step - 1) * chunk_bytes, each, info.type, turn - 1);
  }
  barrier.rendezvous(info);
  if (takes)
    copy_out_slices(data + (steps - 1) * chunk_bytes, count - (steps - 1) * each, info.type, turn - 1);
}

void NodeCollectives::Impl::all_reduce_staged(std::byte* data, std::size_t count, const Reduction& reduction,
                                              const CallInfo& info, bool takes) {
  if (size <= max_ranks_direct || count * size_of(reduction.type) <= small)
    all_reduce_direct(data, count, reduction, info, takes);
  else
    all_reduce_sliced(data, count, reduction, info, takes);
}

void NodeCollectives::all_reduce(std::byte* data, std::size_t count, const Reduction& reduction,
                                 const CallId& call) {
  const CallInfo info{OpType::all_reduce, call, count, reduction.type,
                      static_cast<std::uint16_t>(reduction.operation)};
  impl_->all_reduce_staged(data, count, reduction, info, true);
}

// A step carries a piece of every slice; the owner adds the pieces up where its own numbers lie.
void NodeCollectives::reduce_scatter(std::byte* data, std::size_t count, const Reduction& reduction,
                                     const CallId& call) {
  Impl& impl = *impl_;
  const DataType type = reduction.type;
  const std::size_t width = size_of(type);
  const CallInfo info{OpType::reduce_scatter, call, count, type,
                      static_cast<std::uint16_t>(reduction.operation)};
  const std::size_t piece_bytes = chunk_bytes / static_cast<std::size_t>(impl.size) / line_bytes * line_bytes;
  const std::size_t each = piece_bytes / width;
  const std::size_t steps = steps_of(slice_of(0, count, type).count, each);  // the first slice is the longest
  const auto piece = [&](int r, std::size_t step) {
    const Slice whole = slice_of(r, count, type);
    const std::size_t done = std::min(whole.count, step * each);
    return Slice{whole.begin + done, std::min(each, whole.count - done)};
  };
  for (std::size_t step = 0; step < steps; ++step, ++impl.turn) {
    for (int r = 0; r < impl.size; ++r) {
      const Slice theirs = piece(r, step);
      if (r == impl.rank || theirs.count == 0) continue;
      std::memcpy(impl.my_buffer() + static_cast<std::size_t>(r) * piece_bytes, data + theirs.begin * width,
                  theirs.count * width);
    }
    impl.barrier.rendezvous(info);
    const Slice mine = piece(impl.rank, step);
    std::byte* at = data + mine.begin * width;
    const std::size_t offset = static_cast<std::size_t>(impl.rank) * piece_bytes;
    impl.add_up(
        reduction, [&](int r) { return r == impl.rank ? at : impl.buffer(r, impl.turn) + offset; }, at,
        mine.count);
  }
}

void NodeCollectives::reduce(std::byte* data, std::size_t count, const Reduction& reduction, int root,
                             const CallId& call) {
  const CallInfo info{OpType::reduce, call, count, reduction.type,
                      static_cast<std::uint16_t>(rooted_detail(reduction.operation, root))};
  impl_->all_reduce_staged(data, count, reduction, info, impl_->rank == root);
}

void NodeCollectives::Impl::gather_slices(std::byte* data, std::size_t count, const CallInfo& info,
                                          bool takes) {
  const std::size_t width = size_of(info.type);
  const std::size_t each = chunk_bytes / width;
  const std::size_t steps = steps_of(slice_of(0, count, info.type).count, each);
  const auto move = [&](int r, std::size_t step, bool in) {
    const Slice whole = slice_of(r, count, info.type);
    const std::size_t done = std::min(whole.count, step * each);
    const std::size_t bytes = std::min(each, whole.count - done) * width;
    std::byte* at = data + (whole.begin + done) * width;
    std::byte* staged = buffer(r, turn);
    if (bytes != 0) std::memcpy(in ? staged : at, in ? at : staged, bytes);
  };
  for (std::size_t step = 0; step < steps; ++step, ++turn) {
    move(rank, step, true);
    barrier.rendezvous(info);
    for (int k = 1; k < size && takes; ++k) move((rank + k) % size, step, false);
  }
}

void NodeCollectives::all_gather(std::byte* data, std::size_t count, DataType type, const CallId& call) {
  impl_->gather_slices(data, count, {OpType::all_gather, call, count, type, 0}, true);
}
void NodeCollectives::gather(std::byte* data, std::size_t count, DataType type, int root,
                             const CallId& call) {
  impl_->gather_slices(data, count,
                       {OpType::gather_tensor, call, count, type, static_cast<std::uint16_t>(root)},
                       impl_->rank == root);
}

void NodeCollectives::broadcast(std::byte* data, std::size_t count, DataType type, int root,
                                const CallId& call) {
  Impl& impl = *impl_;
  const std::size_t width = size_of(type);
  const std::size_t each = chunk_bytes / width;
  const std::size_t steps = steps_of(count, each);
  for (std::size_t step = 0; step < steps; ++step, ++impl.turn) {
    const std::size_t bytes = std::min(each, count - step * each) * width;
    std::byte* at = data + step * chunk_bytes;
    if (impl.rank == root && bytes != 0) std::memcpy(impl.my_buffer(), at, bytes);
    impl.barrier.rendezvous({OpType::broadcast, call, count, type, static_cast<std::uint16_t>(root)});
    if (impl.rank != root && bytes != 0) std::memcpy(at, impl.buffer(root, impl.turn), bytes);
  }
}

}  // namespace ddl
