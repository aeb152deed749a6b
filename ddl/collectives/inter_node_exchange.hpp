// SPDX-License-Identifier: MIT
// One level's share of a sum: each rank of a wire ends with the sum of its piece (scatter), then all get all
// pieces (gather). Posting and finishing are apart, so that many ranges can be under way at once.
#pragma once

#include "ddl/collectives/wire_codec.hpp"

#include <span>
#include <vector>

namespace ddl {

// Messages that were posted and not yet waited for.
class PendingMessages {
 public:
  void send(PeerComm& comm, int to, std::span<const std::byte> bytes) {
    sends_.push_back(comm.send(to, bytes));
  }
  void receive(PeerComm& comm, int from, std::span<std::byte> bytes) {
    receives_.push_back(comm.receive(from, bytes));
  }
  void finish(PeerComm& comm);

 private:
  std::vector<PeerComm::Ticket> receives_;
  std::vector<PeerComm::Ticket> sends_;
};

// The pieces of a range, one for each rank of a wire.
using Pieces = std::vector<Range>;
Pieces pieces_of(Range whole, int count);

// Direct: every rank sends each other one its piece. `inbox` has room for size()-1 of my pieces, as they
// travel.
void post_direct_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, std::byte* inbox,
                         PendingMessages& pending);
void finish_direct_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, const std::byte* inbox,
                           bool last_level, PendingMessages& pending);
// My piece, packed, to everyone.
void post_direct_gather(PeerComm& comm, const Codec& codec, const Pieces& pieces, PendingMessages& pending);

// Ring: in each of size()-1 steps a piece goes to the right and one comes from the left, which is added to
// mine. `inbox` has room for the largest piece.
void post_ring_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step, std::byte* inbox,
                       PendingMessages& pending);
void finish_ring_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step,
                         const std::byte* inbox, bool last_level, PendingMessages& pending);
void post_ring_gather(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step,
                      PendingMessages& pending);

}  // namespace ddl
