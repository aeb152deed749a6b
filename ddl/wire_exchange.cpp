// SPDX-License-Identifier: MIT
#include "ddl/wire_exchange.hpp"

#include <array>

namespace ddl {
namespace {

std::size_t place_at(int index) { return static_cast<std::size_t>(index); }

// Of the ranks in a circle, the one `distance` to the right of mine; negative: to the left.
int right_of(const Wire& wire, int distance) {
  const int place = (wire.rank() + distance) % wire.size();
  return place < 0 ? place + wire.size() : place;
}

// In the order of the wire's ranks: the slot of the inbox that holds what `from` sent.
int slot_of(const Wire& wire, int from) { return from < wire.rank() ? from : from - 1; }

}  // namespace

void Underway::finish(Wire& wire) {
  for (const Wire::Ticket ticket : receives_) wire.wait(ticket);
  for (const Wire::Ticket ticket : sends_) wire.wait(ticket);
  receives_.clear();
  sends_.clear();
}

Pieces pieces_of(Range whole, int count) {
  Pieces pieces;
  for (int i = 0; i < count; ++i) pieces.push_back(piece_of(whole, count, i));
  return pieces;
}

void post_direct_scatter(Wire& wire, const Freight& freight, const Pieces& pieces, std::byte* inbox,
                         Underway& underway) {
  const std::size_t bytes = freight.bytes_for(pieces[place_at(wire.rank())].count);
  for (int k = 1; k < wire.size(); ++k) {
    const int from = right_of(wire, -k);
    underway.receive(wire, from, {inbox + place_at(slot_of(wire, from)) * bytes, bytes});
  }
  for (int k = 1; k < wire.size(); ++k) {  // in another order on each rank: nobody is everybody's first
    const int to = right_of(wire, k);
    freight.pack(pieces[place_at(to)]);
    underway.send(wire, to, freight.bytes_of(pieces[place_at(to)]));
  }
}

void finish_direct_scatter(Wire& wire, const Freight& freight, const Pieces& pieces, const std::byte* inbox,
                           bool last_level, Underway& underway) {
  underway.finish(wire);
  const Range mine = pieces[place_at(wire.rank())];
  const std::size_t bytes = freight.bytes_for(mine.count);
  std::vector<const std::byte*> contributions;
  for (int rank = 0; rank < wire.size(); ++rank) {
    contributions.push_back(rank == wire.rank() ? nullptr : inbox + place_at(slot_of(wire, rank)) * bytes);
  }
  freight.add(mine, contributions, last_level);
}

void post_direct_gather(Wire& wire, const Freight& freight, const Pieces& pieces, Underway& underway) {
  for (int k = 1; k < wire.size(); ++k) {
    const int from = right_of(wire, -k);
    underway.receive(wire, from, freight.bytes_of(pieces[place_at(from)]));
  }
  for (int k = 1; k < wire.size(); ++k) {
    underway.send(wire, right_of(wire, k), freight.bytes_of(pieces[place_at(wire.rank())]));
  }
}

void post_ring_scatter(Wire& wire, const Freight& freight, const Pieces& pieces, int step, std::byte* inbox,
                       Underway& underway) {
  const Range coming = pieces[place_at(right_of(wire, -2 - step))];
  const Range going = pieces[place_at(right_of(wire, -1 - step))];
  freight.pack(going);
  underway.receive(wire, right_of(wire, -1), {inbox, freight.bytes_for(coming.count)});
  underway.send(wire, right_of(wire, 1), freight.bytes_of(going));
}

void finish_ring_scatter(Wire& wire, const Freight& freight, const Pieces& pieces, int step,
                         const std::byte* inbox, bool last_level, Underway& underway) {
  underway.finish(wire);
  const std::array<const std::byte*, 2> contributions{inbox, nullptr};
  freight.add(pieces[place_at(right_of(wire, -2 - step))], contributions,
              last_level && step == wire.size() - 2);
}

void post_ring_gather(Wire& wire, const Freight& freight, const Pieces& pieces, int step,
                      Underway& underway) {
  underway.receive(wire, right_of(wire, -1), freight.bytes_of(pieces[place_at(right_of(wire, -1 - step))]));
  underway.send(wire, right_of(wire, 1), freight.bytes_of(pieces[place_at(right_of(wire, -step))]));
}

}  // namespace ddl
