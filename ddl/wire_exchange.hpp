// SPDX-License-Identifier: MIT
// One level's share of a sum: each rank of a wire ends with the sum of its piece (scatter), then all get all
// pieces (gather). Posting and finishing are apart, so that many ranges can be under way at once.
#pragma once

#include "ddl/wire_freight.hpp"

#include <span>
#include <vector>

namespace ddl {

// Messages that were posted and not yet waited for.
class Underway {
 public:
  void send(Wire& wire, int to, std::span<const std::byte> bytes) { sends_.push_back(wire.send(to, bytes)); }
  void receive(Wire& wire, int from, std::span<std::byte> bytes) {
    receives_.push_back(wire.receive(from, bytes));
  }
  void finish(Wire& wire);

 private:
  std::vector<Wire::Ticket> receives_;
  std::vector<Wire::Ticket> sends_;
};

// The pieces of a range, one for each rank of a wire.
using Pieces = std::vector<Range>;
Pieces pieces_of(Range whole, int count);

// Direct: every rank sends each other one its piece. `inbox` has room for size()-1 of my pieces, as they
// travel.
void post_direct_scatter(Wire& wire, const Freight& freight, const Pieces& pieces, std::byte* inbox,
                         Underway& underway);
void finish_direct_scatter(Wire& wire, const Freight& freight, const Pieces& pieces, const std::byte* inbox,
                           bool last_level, Underway& underway);
// My piece, packed, to everyone.
void post_direct_gather(Wire& wire, const Freight& freight, const Pieces& pieces, Underway& underway);

// Ring: in each of size()-1 steps a piece goes to the right and one comes from the left, which is added to
// mine. `inbox` has room for the largest piece.
void post_ring_scatter(Wire& wire, const Freight& freight, const Pieces& pieces, int step, std::byte* inbox,
                       Underway& underway);
void finish_ring_scatter(Wire& wire, const Freight& freight, const Pieces& pieces, int step,
                         const std::byte* inbox, bool last_level, Underway& underway);
void post_ring_gather(Wire& wire, const Freight& freight, const Pieces& pieces, int step, Underway& underway);

}  // namespace ddl
