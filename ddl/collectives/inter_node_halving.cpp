// SPDX-License-Identifier: MIT
#include "ddl/collectives/inter_node_halving.hpp"

#include <algorithm>
#include <array>

namespace ddl {
namespace {

int around(const PeerComm& comm, int distance) {
  return (comm.rank() + distance + comm.size()) % comm.size();
}

// `count` pieces from `first` on, around the circle: a range, and what lies beyond the last piece.
std::array<Range, 2> pieces_around(const Pieces& pieces, int first, int count) {
  const int size = static_cast<int>(pieces.size());
  std::array<Range, 2> ranges{pieces[static_cast<std::size_t>(first)], pieces.front()};
  ranges[0].count = ranges[1].count = 0;
  for (int i = first; i < first + count; ++i)
    ranges[i < size ? 0 : 1].count += pieces[static_cast<std::size_t>(i % size)].count;
  return ranges;
}

// Both sides cut alike. The first range is a message even without elements: a rank in another call is found
// out.
template <typename Post>
void for_each_message(std::span<std::byte> bytes, std::size_t message_bytes, bool also_empty,
                      const Post& post) {
  if (bytes.empty() && also_empty) return post(bytes);
  const std::size_t longest = std::max<std::size_t>(message_bytes, 1);
  for (std::size_t at = 0; at < bytes.size(); at += longest)
    post(bytes.subspan(at, std::min(longest, bytes.size() - at)));
}

void send_pieces(PeerComm& comm, int to, const Codec& codec, const std::array<Range, 2>& ranges,
                 std::size_t message_bytes, PendingMessages& pending) {
  for (const Range& range : ranges) {
    for_each_message(codec.bytes_of(range), message_bytes, &range == ranges.data(),
                     [&](std::span<std::byte> bytes) { pending.send(comm, to, bytes); });
  }
}

}  // namespace

HalvingStep halving_gather_step(int ranks, int step) { return {1 << step, halving_blocks(ranks, step)}; }

HalvingStep halving_scatter_step(int ranks, int step) {
  return halving_gather_step(ranks, halving_steps(ranks) - 1 - step);
}

void post_halving_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step,
                          std::size_t message_bytes, std::byte* inbox, PendingMessages& pending) {
  const HalvingStep now = halving_scatter_step(comm.size(), step);
  const int to = around(comm, now.distance);
  const int from = around(comm, -now.distance);
  std::byte* place = inbox;
  const auto coming = pieces_around(pieces, comm.rank(), now.blocks);
  for (const Range& range : coming) {
    const std::size_t bytes = codec.bytes_for(range.count);
    for_each_message({place, bytes}, message_bytes, &range == coming.data(),
                     [&](std::span<std::byte> part) { pending.receive(comm, from, part); });
    place += bytes;
  }
  const auto going = pieces_around(pieces, to, now.blocks);
  for (const Range& range : going) codec.compress(range);
  send_pieces(comm, to, codec, going, message_bytes, pending);
}

void finish_halving_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step,
                            const std::byte* inbox, bool last_level, PendingMessages& pending) {
  pending.finish(comm);
  const HalvingStep now = halving_scatter_step(comm.size(), step);
  const std::byte* place = inbox;
  for (const Range& range : pieces_around(pieces, comm.rank(), now.blocks)) {
    const std::array<const std::byte*, 2> contributions{place, nullptr};
    codec.add(range, contributions, last_level && now.distance == 1);
    place += codec.bytes_for(range.count);
  }
}

void post_halving_gather(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step,
                         std::size_t message_bytes, PendingMessages& pending) {
  const HalvingStep now = halving_gather_step(comm.size(), step);
  const int from = around(comm, now.distance);
  const auto coming = pieces_around(pieces, from, now.blocks);
  for (const Range& range : coming) {
    for_each_message(codec.bytes_of(range), message_bytes, &range == coming.data(),
                     [&](std::span<std::byte> part) { pending.receive(comm, from, part); });
  }
  send_pieces(comm, around(comm, -now.distance), codec, pieces_around(pieces, comm.rank(), now.blocks),
              message_bytes, pending);
}

}  // namespace ddl
