// SPDX-License-Identifier: MIT
#include "ddl/collectives/inter_node_collectives.hpp"

#include "ddl/collectives/inter_node_broadcast.hpp"
#include "ddl/collectives/inter_node_exchange.hpp"
#include "ddl/collectives/inter_node_pipeline.hpp"
#include "ddl/collectives/inter_node_sizes.hpp"
#include "ddl/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace ddl {
namespace {

constexpr std::size_t column_lag = 4;  // messages under way to each rank while others are added

void check_call(PeerComms comms, const InterNodeOptions& options) {
  for (PeerComm* comm : comms) {
    if (comm->size() > max_ranks_of_comm) {
      throw Error(
          Fault::unsupported,
          fmt::format("{} hosts on one level, at most {} can be added", comm->size(), max_ranks_of_comm),
          "dims", "give dims with more levels, as in 8x32x64: ranks per host x hosts per rack x racks");
    }
    comm->call_id(options.signature);
  }
  if (options.wire_dtype && *options.wire_dtype != DataType::bfloat16 &&
      *options.wire_dtype != DataType::float16) {
    throw Error(Fault::usage, fmt::format("{} is not a reduced-precision type", name_of(*options.wire_dtype)),
                "wire type", "bfloat16 or float16");
  }
}

void check_root_of(PeerComms comms, std::span<const int> root, const char* call) {
  if (root.size() == comms.size()) return;
  throw Error(Fault::usage, fmt::format("a root on {} levels for {} wires", root.size(), comms.size()), call,
              "take the root from Grid::position_of");
}

std::vector<PeerComm*> comms_in_use(PeerComms comms) {
  std::vector<PeerComm*> used;
  std::copy_if(comms.begin(), comms.end(), std::back_inserter(used),
               [](const PeerComm* comm) { return comm->size() > 1; });
  return used;
}

// Whether to gather. Where that takes many steps, other ways take twice as many, so that more bytes pay off.
bool is_small(PeerComms comms, std::size_t bytes, const InterNodeOptions& options) {
  std::size_t peers = 0;
  std::size_t steps = 0;
  for (const PeerComm* comm : comms) {
    peers += static_cast<std::size_t>(comm->size() - 1);
    steps += static_cast<std::size_t>(gathering_steps(comm->size()));
  }
  return peers * bytes <= options.gathered_bytes * std::max<std::size_t>(steps, 2) / 2;
}

// Everybody's `bytes` in blocks: first mine, then my right neighbour's and so on around the circle.
void gather_blocks(PeerComm& comm, std::byte* blocks, std::size_t bytes) {
  const int n = comm.size();
  const auto right = [&](int distance) { return (comm.rank() + distance) % n; };
  const auto block = [&](int index) { return blocks + static_cast<std::size_t>(index) * bytes; };
  PendingMessages pending;
  if (n - 1 <= max_direct_peers) {
    for (int k = 1; k < n; ++k) pending.receive(comm, right(k), {block(k), bytes});
    for (int k = 1; k < n; ++k) pending.send(comm, right(n - k), {block(0), bytes});
    return pending.finish(comm);
  }
  for (int have = 1; have < n; have *= 2) {  // Bruck's way: what I have doubles in each step
    const std::size_t size = static_cast<std::size_t>(std::min(have, n - have)) * bytes;
    pending.receive(comm, right(have), {block(have), size});
    pending.send(comm, right(n - have), {block(0), size});
    pending.finish(comm);
  }
}

void all_reduce_gathered(PeerComms comms, const Reduction& reduction, std::byte* data, std::size_t count,
                         Scratch& scratch) {
  const std::size_t bytes = count * size_of(reduction.type);
  for (std::size_t level = 0; level < comms.size(); ++level) {
    PeerComm& comm = *comms[level];
    const auto ranks = static_cast<std::size_t>(comm.size());
    if (scratch.size() < ranks * bytes) scratch.resize(ranks * bytes);
    std::copy_n(data, bytes, scratch.data());
    gather_blocks(comm, scratch.data(), bytes);
    std::vector<const std::byte*> contributions;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t block = (rank + ranks - static_cast<std::size_t>(comm.rank())) % ranks;
      contributions.push_back(block == 0 ? nullptr : scratch.data() + block * bytes);
    }
    const Codec codec(reduction, reduction.type, data, {0, count}, nullptr);
    codec.add({0, count}, contributions, level + 1 == comms.size());
  }
}

// Pieces cut into columns: the i-th message of every piece.
class MessageColumns {
 public:
  MessageColumns(PeerComm& comm, Range whole, std::size_t message_bytes, std::size_t size)
      : pieces_(pieces_of(whole, comm.size())), each_(std::max<std::size_t>(message_bytes / size, 1)) {}

  std::size_t count() const { return std::max<std::size_t>((pieces_.front().count + each_ - 1) / each_, 1); }
  std::size_t longest() const { return std::min(each_, pieces_.front().count); }
  Pieces column(std::size_t i) const {
    Pieces parts;
    for (const Range piece : pieces_) {
      const std::size_t from = std::min(i * each_, piece.count);
      parts.push_back({piece.first + from, std::min(each_, piece.count - from)});
    }
    return parts;
  }

 private:
  Pieces pieces_;
  std::size_t each_;
};

// A level of reduce_scatter: my piece of `whole`, in messages that are added while the next are under way.
void scatter_level(PeerComm& comm, const Reduction& reduction, std::byte* data, Range whole, bool last_level,
                   const InterNodeOptions& options, Scratch& scratch) {
  const DataType wire_dtype = wire_dtype_of(reduction.type, options);
  const std::size_t size = size_of(wire_dtype);
  const MessageColumns columns(comm, whole, options.message_bytes, size);
  const std::size_t inbox = static_cast<std::size_t>(comm.size() - 1) * columns.longest() * size;
  const std::size_t wire_buffer = wire_dtype == reduction.type ? 0 : whole.count * size;
  const std::size_t slots = std::min(columns.count(), column_lag + 1);
  if (scratch.size() < slots * inbox + wire_buffer) scratch.resize(slots * inbox + wire_buffer);
  const Codec codec(reduction, wire_dtype, data, whole, scratch.data() + slots * inbox);

  std::vector<PendingMessages> pending(slots);
  for (std::size_t i = 0; i < columns.count() + column_lag; ++i) {
    const std::size_t slot = i % slots;
    if (i < columns.count()) {
      post_direct_scatter(comm, codec, columns.column(i), scratch.data() + slot * inbox, pending[slot]);
    }
    if (i < column_lag || i - column_lag >= columns.count()) continue;
    const std::size_t done = i - column_lag;
    finish_direct_scatter(comm, codec, columns.column(done), scratch.data() + done % slots * inbox,
                          last_level, pending[done % slots]);
  }
}

// The pieces of `whole` in messages of which some are under way: `post` adds those of a column.
template <typename Post>
void post_columns(PeerComm& comm, Range whole, std::size_t size, const InterNodeOptions& options,
                  const Post& post) {
  const MessageColumns columns(comm, whole, options.message_bytes, size);
  std::vector<PendingMessages> pending(std::min(columns.count(), column_lag));
  for (std::size_t i = 0; i < columns.count(); ++i) {
    PendingMessages& slot = pending[i % pending.size()];
    slot.finish(comm);
    post(columns.column(i), slot);
  }
  for (std::size_t i = 0; i < pending.size(); ++i)
    pending[(columns.count() + i) % pending.size()].finish(comm);
}

// The pieces of `whole` between the root and all others. `bytes_of` a range: where it lies on this rank.
template <typename BytesOf>
void move_pieces(PeerComm& comm, int root, bool to_root, Range whole, std::size_t size,
                 const InterNodeOptions& options, const BytesOf& bytes_of) {
  const bool is_root = comm.rank() == root;
  post_columns(comm, whole, size, options, [&](const Pieces& parts, PendingMessages& slot) {
    for (int k = 1; k < comm.size(); ++k) {
      const int other = (root + k) % comm.size();
      if (!is_root && comm.rank() != other) continue;
      const std::span<std::byte> bytes = bytes_of(parts[static_cast<std::size_t>(other)]);
      if (to_root == is_root)
        slot.receive(comm, is_root ? other : root, bytes);
      else
        slot.send(comm, is_root ? other : root, bytes);
    }
  });
}

// Equal parts of bytes between the root's `whole`, which has one for each rank, and the `part` of each other
// rank.
void move_parts(PeerComm& comm, int root, bool to_root, std::span<std::byte> whole, std::span<std::byte> part,
                const InterNodeOptions& options) {
  PeerComm* const one = &comm;
  check_call({&one, 1}, options);
  const std::size_t before = static_cast<std::size_t>(comm.rank()) * part.size();
  const Range all{0, part.size() * static_cast<std::size_t>(comm.size())};
  move_pieces(comm, root, to_root, all, 1, options, [&](Range range) {
    return comm.rank() == root ? whole.subspan(range.first, range.count)
                               : part.subspan(range.first - before, range.count);
  });
}

// Each rank answers the root with an empty message: two roots, which only send, would end without an error.
void answer_root(PeerComm& comm, int root) {
  PendingMessages answers;
  if (comm.rank() != root) answers.send(comm, root, {});
  for (int rank = 0; rank < comm.size() && comm.rank() == root; ++rank)
    if (rank != root) answers.receive(comm, rank, {});
  answers.finish(comm);
}

// whole[l] is what is divided on level l; the last one is what I own.
std::vector<Range> owned_by_level(PeerComms comms, std::size_t count) {
  std::vector<Range> owned{{0, count}};
  for (const PeerComm* comm : comms) owned.push_back(piece_of(owned.back(), comm->size(), comm->rank()));
  return owned;
}

// For all of `data`; where it is narrowed, `scratch` has the image.
Codec codec_of_all(const Reduction& reduction, std::byte* data, std::size_t count,
                   const InterNodeOptions& options, Scratch& scratch) {
  const DataType wire_dtype = wire_dtype_of(reduction.type, options);
  const std::size_t wire_buffer = wire_dtype == reduction.type ? 0 : count * size_of(wire_dtype);
  if (scratch.size() < wire_buffer) scratch.resize(wire_buffer);
  return {reduction, wire_dtype, data, {0, count}, scratch.data()};
}

void scale_alone(const Reduction& reduction, std::byte* data, std::size_t count) {
  const std::byte* const source = data;
  if (count > 0 && reduction.scale != 1.0) reduce(reduction, {&source, 1}, {&data, 1}, count);
}

}  // namespace

void all_reduce(PeerComms all_comms, const Reduction& reduction, std::byte* data, std::size_t count,
                const InterNodeOptions& options, Scratch& scratch, const PipelineHooks& hooks) {
  check_call(all_comms, options);
  const std::vector<PeerComm*> comms = comms_in_use(all_comms);
  const bool small = is_small(comms, count * size_of(reduction.type), options);
  const bool at_once = comms.empty() || count == 0 || options.algorithm == InterNodeAlgorithm::gathered ||
                       (options.algorithm == InterNodeAlgorithm::best && small);
  if (!at_once) return all_reduce_in_chunks(comms, reduction, data, count, options, scratch, hooks);
  if (hooks.produce) hooks.produce(0, count);
  if (comms.empty())
    scale_alone(reduction, data, count);
  else
    all_reduce_gathered(comms, reduction, data, count, scratch);
  if (hooks.consume) hooks.consume(0, count);
}

OwnedRange owned_range(PeerComms comms, std::size_t count) {
  const Range owned = owned_by_level(comms, count).back();
  return {owned.first, owned.count};
}

void reduce_scatter(PeerComms all_comms, const Reduction& reduction, std::byte* data, std::size_t count,
                    const InterNodeOptions& options, Scratch& scratch) {
  check_call(all_comms, options);
  const std::vector<PeerComm*> comms = comms_in_use(all_comms);
  if (comms.empty()) return scale_alone(reduction, data, count);
  const std::vector<Range> owned = owned_by_level(comms, count);
  for (std::size_t level = 0; level < comms.size(); ++level) {
    scatter_level(*comms[level], reduction, data, owned[level], level + 1 == comms.size(), options, scratch);
  }
}

void all_gather(PeerComms all_comms, DataType type, std::byte* data, std::size_t count,
                const InterNodeOptions& options, Scratch& scratch) {
  check_call(all_comms, options);
  const std::vector<PeerComm*> comms = comms_in_use(all_comms);
  if (comms.empty()) return;
  const std::vector<Range> owned = owned_by_level(comms, count);
  const Codec codec = codec_of_all({.type = type}, data, count, options, scratch);
  codec.compress(owned.back());
  for (std::size_t level = comms.size(); level-- > 0;) {
    PeerComm& comm = *comms[level];
    post_columns(
        comm, owned[level], codec.bytes_for(1), options,
        [&](const Pieces& pieces, PendingMessages& slot) { post_direct_gather(comm, codec, pieces, slot); });
  }
  codec.decompress({0, count});
}

void broadcast(PeerComms comms, std::span<const int> root, std::span<std::byte> data,
               const InterNodeOptions& options) {
  check_call(comms, options);
  check_root_of(comms, root, "broadcast");
  broadcast_on_trees(comms, root, data, options);
}

void reduce(PeerComms all_comms, const Reduction& reduction, std::span<const int> root, std::byte* data,
            std::size_t count, const InterNodeOptions& options, Scratch& scratch) {
  check_call(all_comms, options);
  check_root_of(all_comms, root, "reduce");
  const std::vector<PeerComm*> comms = comms_in_use(all_comms);
  if (comms.empty()) return scale_alone(reduction, data, count);
  if (count == 0 || is_small(comms, count * size_of(reduction.type), options))
    return all_reduce_gathered(comms, reduction, data, count, scratch);
  reduce_scatter(comms, reduction, data, count, options, scratch);
  const std::vector<Range> owned = owned_by_level(all_comms, count);
  const Codec codec = codec_of_all(reduction, data, count, options, scratch);
  codec.compress(owned.back());
  // On each level to the rank at the root's place there. The others have sent all that they had.
  for (std::size_t level = all_comms.size(); level-- > 0;) {
    PeerComm& comm = *all_comms[level];
    move_pieces(comm, root[level], true, owned[level], codec.bytes_for(1), options,
                [&](Range range) { return codec.bytes_of(range); });
    if (comm.rank() != root[level]) return;
  }
  codec.decompress({0, count});
}

void scatter(PeerComm& comm, int root, std::span<std::byte> whole, std::span<std::byte> part,
             const InterNodeOptions& options) {
  move_parts(comm, root, false, whole, part, options);
  if (comm.rank() == root)
    std::copy_n(whole.data() + static_cast<std::size_t>(root) * part.size(), part.size(), part.data());
  answer_root(comm, root);
}

void gather(PeerComm& comm, int root, std::span<std::byte> whole, std::span<std::byte> part,
            const InterNodeOptions& options) {
  move_parts(comm, root, true, whole, part, options);
  if (comm.rank() == root)
    std::copy_n(part.data(), part.size(), whole.data() + static_cast<std::size_t>(root) * part.size());
}

void barrier(PeerComms comms, const InterNodeOptions& options) {
  check_call(comms, options);
  for (PeerComm* comm : comms) {
    for (int distance = 1; distance < comm->size(); distance *= 2) {
      PendingMessages pending;
      pending.receive(*comm, (comm->rank() + comm->size() - distance) % comm->size(), {});
      pending.send(*comm, (comm->rank() + distance) % comm->size(), {});
      pending.finish(*comm);
    }
  }
}

}  // namespace ddl
