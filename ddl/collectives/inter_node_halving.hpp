// SPDX-License-Identifier: MIT
// One level's share of a sum in few steps: ceil(log2 n) for each half, for any number n of ranks, and no byte
// more than other ways send. The gather is Bruck's all-gather; the scatter is its mirror image: in each step
// a rank sends the partial sums of the pieces that lie `distance` and farther to its right (J. L. Traeff,
// "Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms", arXiv 2410.14234). Each step rounds.
#pragma once

#include "ddl/collectives/inter_node_exchange.hpp"
#include "ddl/collectives/inter_node_sizes.hpp"

namespace ddl {

// What travels in a step: `blocks` pieces over `distance` ranks. The scatter counts steps down from the
// largest distance, the gather up from 1.
struct HalvingStep {
  int distance = 1;
  int blocks = 1;
};
HalvingStep halving_scatter_step(int ranks, int step);
HalvingStep halving_gather_step(int ranks, int step);

// `inbox` has room for half of the pieces, as they travel. No message is longer than `message_bytes`.
void post_halving_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step,
                          std::size_t message_bytes, std::byte* inbox, PendingMessages& pending);
void finish_halving_scatter(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step,
                            const std::byte* inbox, bool last_level, PendingMessages& pending);
void post_halving_gather(PeerComm& comm, const Codec& codec, const Pieces& pieces, int step,
                         std::size_t message_bytes, PendingMessages& pending);

}  // namespace ddl
