// SPDX-License-Identifier: MIT
#include "ddl/host_stage.hpp"

#include "ddl/rounding.hpp"

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
constexpr int most_ranks_direct = 3;
// Sums for reduce_update: they stay in the first-level cache until they are used.
constexpr std::size_t update_bytes = 16 << 10;

std::size_t steps_of(std::size_t count, std::size_t each) {
  return std::max<std::size_t>(1, (count + each - 1) / each);
}

}  // namespace

struct HostStage::Parts {
  Parts(HostGroup& host_group, double timeout_seconds);

  HostGroup& group;
  int rank;
  int size;
  std::shared_ptr<SharedBlock> arena;
  HostBarrier barrier;
  std::size_t small;
  // Buffers are used in turn, one each meeting: what was written in a turn has been read when its buffer
  // comes round.
  std::uint64_t turn = 0;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> destinations;

  std::byte* buffer(int of_rank, std::uint64_t of_turn) const {
    return arena->part(of_rank).data() + round_up(HostBarrier::bytes_needed(), page_bytes) +
           of_turn % buffers * chunk_bytes;
  }
  std::byte* my_buffer() const { return buffer(rank, turn); }

  // sources[r] = at(r) for all ranks, added up into the one place or into destinations.
  template <typename At>
  void add_up(const Reduction& reduction, const At& at, std::byte* into, std::size_t count) {
    for (int r = 0; r < size; ++r) sources[static_cast<std::size_t>(r)] = at(r);
    reduce(reduction, sources, {&into, 1}, count);
  }

  void all_reduce_direct(std::byte* data, std::size_t count, const Reduction& reduction,
                         const Occasion& occasion);
  void all_reduce_sliced(std::byte* data, std::size_t count, const Reduction& reduction,
                         const Occasion& occasion);
  void copy_out_slices(std::byte* data, std::size_t count, DataType type, std::uint64_t of_turn) const;
  Slice slice_of(int of_rank, std::size_t count, DataType type) const;
};

HostStage::Parts::Parts(HostGroup& host_group, double timeout_seconds)
    : group(host_group),
      rank(group.local_rank()),
      size(group.local_size()),
      arena(group.allocate(round_up(HostBarrier::bytes_needed(), page_bytes) + buffers * chunk_bytes)),
      barrier(group, arena, timeout_seconds),
      small(barrier.oversubscribed() ? small_bytes_oversubscribed : small_bytes),
      sources(static_cast<std::size_t>(size)),
      destinations(static_cast<std::size_t>(size)) {}

Slice HostStage::Parts::slice_of(int of_rank, std::size_t count, DataType type) const {
  const std::size_t per_line = line_bytes / size_of(type);
  const std::size_t lines = (count + per_line - 1) / per_line;
  const auto ranks = static_cast<std::size_t>(size);
  const auto cut = [&](std::size_t r) {
    return std::min(count, (lines / ranks * r + std::min(r, lines % ranks)) * per_line);
  };
  const std::size_t begin = cut(static_cast<std::size_t>(of_rank));
  return {begin, cut(static_cast<std::size_t>(of_rank) + 1) - begin};
}

HostStage::HostStage(HostGroup& group, double timeout_seconds) : parts_(new Parts(group, timeout_seconds)) {}
HostStage::~HostStage() = default;

int HostStage::local_rank() const { return parts_->rank; }
int HostStage::local_size() const { return parts_->size; }
Slice HostStage::slice(std::size_t count, DataType type) const {
  return parts_->slice_of(parts_->rank, count, type);
}
Slice HostStage::slice_of(int local_rank, std::size_t count, DataType type) const {
  return parts_->slice_of(local_rank, count, type);
}

bool HostStage::is_small(std::size_t bytes) const { return bytes <= parts_->small; }

void HostStage::give_up(const Error& error) noexcept { parts_->barrier.give_up(error); }
void HostStage::call_roll(RollCall* roll, std::vector<int> ranks) {
  parts_->barrier.call_roll(roll, std::move(ranks));
}
void HostStage::watch(StallWatch watch) { parts_->barrier.watch(std::move(watch)); }
void HostStage::set_state(std::uint64_t state) noexcept { parts_->barrier.set_state(state); }
void HostStage::end() noexcept { parts_->barrier.end(); }

void HostStage::meet(const Occasion& occasion) { parts_->barrier.meet(occasion); }
void HostStage::look() const { parts_->barrier.look(); }

void HostStage::barrier(const Call& call) {
  parts_->barrier.meet({Verb::barrier, call, 0, DataType::float32, 0});
}

// ---- where the numbers lie in a SharedBlock

void HostStage::meet_for_sums(const SharedRange& range, const Reduction& reduction, const Call& call) {
  parts_->barrier.meet(
      {Verb::reduce_scatter, call, range.count, range.type, static_cast<std::uint8_t>(reduction.operation)});
}

void HostStage::sum_stretch(const SharedRange& range, const Reduction& reduction, const Slice& stretch) {
  Parts& parts = *parts_;
  const std::size_t at = stretch.begin * size_of(range.type);
  parts.add_up(
      reduction, [&](int r) { return range.parts[static_cast<std::size_t>(r)] + at; },
      range.parts[static_cast<std::size_t>(parts.rank)] + at, stretch.count);
}

void HostStage::hand_out(const SharedRange& range, const Slice& stretch) {
  const Parts& parts = *parts_;
  const std::size_t at = stretch.begin * size_of(range.type);
  const std::size_t bytes = stretch.count * size_of(range.type);
  const std::byte* from = range.parts[static_cast<std::size_t>(parts.rank)] + at;
  for (int step = 1; bytes != 0 && step < parts.size; ++step) {  // each rank begins with its neighbour
    std::memcpy(range.parts[static_cast<std::size_t>((parts.rank + step) % parts.size)] + at, from, bytes);
  }
}

void HostStage::meet_with_sums(const SharedRange& range, const Call& call) {
  parts_->barrier.meet({Verb::all_gather, call, range.count, range.type, 0});
}

void HostStage::reduce_scatter(const SharedRange& range, const Reduction& reduction, const Call& call) {
  meet_for_sums(range, reduction, call);
  sum_stretch(range, reduction, slice(range.count, range.type));
}

void HostStage::all_gather(const SharedRange& range, const Call& call) {
  hand_out(range, slice(range.count, range.type));
  meet_with_sums(range, call);
}

void HostStage::all_reduce(const SharedRange& range, const Reduction& reduction, const Call& call) {
  Parts& parts = *parts_;
  const Occasion occasion{Verb::all_reduce, call, range.count, range.type,
                          static_cast<std::uint8_t>(reduction.operation)};
  std::byte* own = range.parts[static_cast<std::size_t>(parts.rank)];
  const std::size_t bytes = range.count * size_of(range.type);
  if (is_small(bytes)) return parts.all_reduce_direct(own, range.count, reduction, occasion);
  parts.barrier.meet(occasion);
  const Slice mine = slice(range.count, range.type);
  const std::size_t at = mine.begin * size_of(range.type);
  for (std::size_t r = 0; r < range.parts.size(); ++r) {
    parts.sources[r] = parts.destinations[r] = range.parts[r] + at;
  }
  reduce(reduction, parts.sources, parts.destinations, mine.count);
  parts.barrier.meet(occasion);
}

void HostStage::broadcast(const SharedRange& range, int root, const Call& call) {
  Parts& parts = *parts_;
  const std::size_t bytes = range.count * size_of(range.type);
  std::byte* own = range.parts[static_cast<std::size_t>(parts.rank)];
  if (bytes <= parts.small) return broadcast(own, range.count, range.type, root, call);
  const Occasion occasion{Verb::broadcast, call, range.count, range.type, static_cast<std::uint8_t>(root)};
  parts.barrier.meet(occasion);
  if (parts.rank != root) std::memcpy(own, range.parts[static_cast<std::size_t>(root)], bytes);
  parts.barrier.meet(occasion);
}

void HostStage::reduce_update(const SharedRange& range, const Reduction& reduction, const Call& call,
                              const Update& update) {
  Parts& parts = *parts_;
  const Occasion occasion{Verb::all_reduce_update, call, range.count, range.type,
                          static_cast<std::uint8_t>(reduction.operation)};
  parts.barrier.meet(occasion);
  const Slice mine = slice(range.count, range.type);
  const std::size_t width = size_of(range.type);
  alignas(line_bytes) std::byte sums[update_bytes];
  try {
    for (std::size_t done = 0; done < mine.count; done += update_bytes / width) {
      const Slice block{mine.begin + done, std::min(mine.count - done, update_bytes / width)};
      parts.add_up(
          reduction, [&](int r) { return range.parts[static_cast<std::size_t>(r)] + block.begin * width; },
          sums, block.count);
      update(block, sums);
    }
  } catch (const Error& error) {
    give_up(error);
    throw;
  } catch (const std::exception& error) {
    const std::string name = parts.group.name_of(parts.rank);
    give_up(Error(Fault::lost, fmt::format("{} failed in its update: {}", name, error.what()), name,
                  "look for that rank's own message"));
    throw;
  }
  parts.barrier.meet(occasion);
}

// ---- private memory, staged through the arena

// All ranks read what all have copied in, and add it up themselves: one meeting a chunk.
void HostStage::Parts::all_reduce_direct(std::byte* data, std::size_t count, const Reduction& reduction,
                                         const Occasion& occasion) {
  const std::size_t width = size_of(occasion.type);
  const std::size_t each = chunk_bytes / width;
  const std::size_t steps = steps_of(count, each);
  for (std::size_t step = 0; step < steps; ++step, ++turn) {
    std::byte* at = data + step * chunk_bytes;
    const std::size_t now = std::min(each, count - step * each);
    if (now != 0 && size > 1) std::memcpy(my_buffer(), at, now * width);
    barrier.meet(occasion);
    add_up(
        reduction, [&](int r) { return r == rank ? at : buffer(r, turn); }, at, now);
  }
}

void HostStage::Parts::copy_out_slices(std::byte* data, std::size_t count, DataType type,
                                       std::uint64_t of_turn) const {
  for (int step = 0; step < size; ++step) {
    const int owner = (rank + step) % size;
    const Slice theirs = slice_of(owner, count, type);
    const std::size_t at = theirs.begin * size_of(type);
    if (theirs.count != 0) std::memcpy(data + at, buffer(owner, of_turn) + at, theirs.count * size_of(type));
  }
}

// Each rank adds up its slice of a chunk while others still copy theirs in or the last one's sums out.
void HostStage::Parts::all_reduce_sliced(std::byte* data, std::size_t count, const Reduction& reduction,
                                         const Occasion& occasion) {
  const std::size_t width = size_of(occasion.type);
  const std::size_t each = chunk_bytes / width;
  const std::size_t steps = steps_of(count, each);
  for (std::size_t step = 0; step < steps; ++step, ++turn) {
    const std::size_t now = std::min(each, count - step * each);
    std::memcpy(my_buffer(), data + step * chunk_bytes, now * width);
    barrier.meet(occasion);
    const Slice mine = slice_of(rank, now, occasion.type);
    const std::size_t at = mine.begin * width;
    add_up(
        reduction, [&](int r) { return buffer(r, turn) + at; }, my_buffer() + at, mine.count);
    if (step != 0) copy_out_slices(data + (step - 1) * chunk_bytes, each, occasion.type, turn - 1);
  }
  barrier.meet(occasion);
  copy_out_slices(data + (steps - 1) * chunk_bytes, count - (steps - 1) * each, occasion.type, turn - 1);
}

void HostStage::all_reduce(std::byte* data, std::size_t count, const Reduction& reduction, const Call& call) {
  Parts& parts = *parts_;
  const Occasion occasion{Verb::all_reduce, call, count, reduction.type,
                          static_cast<std::uint8_t>(reduction.operation)};
  if (parts.size <= most_ranks_direct || is_small(count * size_of(reduction.type))) {
    parts.all_reduce_direct(data, count, reduction, occasion);
  } else {
    parts.all_reduce_sliced(data, count, reduction, occasion);
  }
}

// A step carries a piece of every slice; the owner adds the pieces up where its own numbers lie.
void HostStage::reduce_scatter(std::byte* data, std::size_t count, const Reduction& reduction,
                               const Call& call) {
  Parts& parts = *parts_;
  const DataType type = reduction.type;
  const std::size_t width = size_of(type);
  const Occasion occasion{Verb::reduce_scatter, call, count, type,
                          static_cast<std::uint8_t>(reduction.operation)};
  const std::size_t piece_bytes =
      chunk_bytes / static_cast<std::size_t>(parts.size) / line_bytes * line_bytes;
  const std::size_t each = piece_bytes / width;
  const std::size_t steps = steps_of(slice_of(0, count, type).count, each);  // the first slice is the longest
  const auto piece = [&](int r, std::size_t step) {
    const Slice whole = slice_of(r, count, type);
    const std::size_t done = std::min(whole.count, step * each);
    return Slice{whole.begin + done, std::min(each, whole.count - done)};
  };
  for (std::size_t step = 0; step < steps; ++step, ++parts.turn) {
    for (int r = 0; r < parts.size; ++r) {
      const Slice theirs = piece(r, step);
      if (r == parts.rank || theirs.count == 0) continue;
      std::memcpy(parts.my_buffer() + static_cast<std::size_t>(r) * piece_bytes, data + theirs.begin * width,
                  theirs.count * width);
    }
    parts.barrier.meet(occasion);
    const Slice mine = piece(parts.rank, step);
    std::byte* at = data + mine.begin * width;
    const std::size_t offset = static_cast<std::size_t>(parts.rank) * piece_bytes;
    parts.add_up(
        reduction, [&](int r) { return r == parts.rank ? at : parts.buffer(r, parts.turn) + offset; }, at,
        mine.count);
  }
}

void HostStage::all_gather(std::byte* data, std::size_t count, DataType type, const Call& call) {
  Parts& parts = *parts_;
  const std::size_t width = size_of(type);
  const std::size_t each = chunk_bytes / width;
  const std::size_t steps = steps_of(slice_of(0, count, type).count, each);
  const auto move = [&](int r, std::size_t step, bool in) {
    const Slice whole = slice_of(r, count, type);
    const std::size_t done = std::min(whole.count, step * each);
    const std::size_t bytes = std::min(each, whole.count - done) * width;
    std::byte* at = data + (whole.begin + done) * width;
    std::byte* staged = parts.buffer(r, parts.turn);
    if (bytes != 0) std::memcpy(in ? staged : at, in ? at : staged, bytes);
  };
  for (std::size_t step = 0; step < steps; ++step, ++parts.turn) {
    move(parts.rank, step, true);
    parts.barrier.meet({Verb::all_gather, call, count, type, 0});
    for (int k = 1; k < parts.size; ++k) move((parts.rank + k) % parts.size, step, false);
  }
}

void HostStage::broadcast(std::byte* data, std::size_t count, DataType type, int root, const Call& call) {
  Parts& parts = *parts_;
  const std::size_t width = size_of(type);
  const std::size_t each = chunk_bytes / width;
  const std::size_t steps = steps_of(count, each);
  for (std::size_t step = 0; step < steps; ++step, ++parts.turn) {
    const std::size_t bytes = std::min(each, count - step * each) * width;
    std::byte* at = data + step * chunk_bytes;
    if (parts.rank == root && bytes != 0) std::memcpy(parts.my_buffer(), at, bytes);
    parts.barrier.meet({Verb::broadcast, call, count, type, static_cast<std::uint8_t>(root)});
    if (parts.rank != root && bytes != 0) std::memcpy(at, parts.buffer(root, parts.turn), bytes);
  }
}

}  // namespace ddl
