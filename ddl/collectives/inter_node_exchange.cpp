// SPDX-License-Identifier: MIT
#include "ddl/collectives/inter_node_exchange.hpp"

#include <array>

namespace ddl {
namespace {

std::size_t place_at(int index) { return static_cast<std::size_t>(index); }

// Of the ranks in a circle, the one `distance` to the right of mine; negative: to the left.
int right_of(const PeerComm& comm, int distance) {
  const int place = (comm.rank() + distance) % comm.size();
  return place < 0 ? place + comm.size() : place;
}

// In the order of the wire's ranks: the slot of the inbox that holds what `from` sent.
int slot_of(const PeerComm& comm, int from) { return from < comm.rank() ? from : from - 1; }

}  // namespace

void PendingMessages::finish(PeerComm& comm) {
  for (const PeerComm::Ticket ticket : receives_) comm.wait(ticket);
  for (const PeerComm::Ticket ticket : sends_) comm.wait(ticket);
  receives_.clear();
  sends_.clear();
}

Pieces pieces_of(Range whole, int count) {
  Pieces pieces;
  for (int i = 0; i < count; ++i) pieces.push_back(piece_of(whole, count, i));
  return pieces;
}

void post_direct_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, std::byte* inbox,
                         PendingMessages& pending) {
  const std::size_t bytes = codec.bytes_for(pieces[place_at(comm.rank())].count);
  for (int k = 1; k < comm.size(); ++k) {
    const int from = right_of(comm, -k);
    pending.receive(comm, from, {inbox + place_at(slot_of(comm, from)) * bytes, bytes});
  }
  for (int k = 1; k < comm.size();
       ++k) {  // in another order on each rank, so that no rank is the first of all
    const int to = right_of(comm, k);
    codec.compress(pieces[place_at(to)]);
    pending.send(comm, to, codec.bytes_of(pieces[place_at(to)]));
  }
}

void finish_direct_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, const std::byte* inbox,
                           bool last_level, PendingMessages& pending) {
  pending.finish(comm);
  const Range mine = pieces[place_at(comm.rank())];
  const std::size_t bytes = codec.bytes_for(mine.count);
  std::vector<const std::byte*> contributions;
  for (int rank = 0; rank < comm.size(); ++rank) {
    contributions.push_back(rank == comm.rank() ? nullptr : inbox + place_at(slot_of(comm, rank)) * bytes);
  }
  codec.add(mine, contributions, last_level);
}

void post_direct_gather(PeerComm& comm, const Codec& codec, const Pieces& pieces, PendingMessages& pending) {
  for (int k = 1; k < comm.size(); ++k) {
    const int from = right_of(comm, -k);
    pending.receive(comm, from, codec.bytes_of(pieces[place_at(from)]));
  }
  for (int k = 1; k < comm.size(); ++k) {
    pending.send(comm, right_of(comm, k), codec.bytes_of(pieces[place_at(comm.rank())]));
  }
}

void post_ring_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step, std::byte* inbox,
                       PendingMessages& pending) {
  const Range coming = pieces[place_at(right_of(comm, -2 - step))];
  const Range going = pieces[place_at(right_of(comm, -1 - step))];
  codec.compress(going);
  pending.receive(comm, right_of(comm, -1), {inbox, codec.bytes_for(coming.count)});
  pending.send(comm, right_of(comm, 1), codec.bytes_of(going));
}

void finish_ring_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step,
                         const std::byte* inbox, bool last_level, PendingMessages& pending) {
  pending.finish(comm);
  const std::array<const std::byte*, 2> contributions{inbox, nullptr};
  codec.add(pieces[place_at(right_of(comm, -2 - step))], contributions,
            last_level && step == comm.size() - 2);
}

void post_ring_gather(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step,
                      PendingMessages& pending) {
  pending.receive(comm, right_of(comm, -1), codec.bytes_of(pieces[place_at(right_of(comm, -1 - step))]));
  pending.send(comm, right_of(comm, 1), codec.bytes_of(pieces[place_at(right_of(comm, -step))]));
}

}  // namespace ddl
