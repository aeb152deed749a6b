// SPDX-License-Identifier: MIT
// One rank's bytes to all, over all levels: a tree of messages (few hops) where short, a chain of chunks
// where long.
#pragma once

#include "ddl/collectives/inter_node_collectives.hpp"

#include <span>
#include <vector>

namespace ddl {

// Ranks of one wire: whom a rank gets the bytes from and whom it hands them to.
struct TreePlace {
  int parent = -1;  // none: the root
  std::vector<int> children;
};
TreePlace plan_chain(int size, int rank, int root);
TreePlace plan_binomial_tree(int size, int rank, int root);

void broadcast_on_trees(PeerComms comms, std::span<const int> root, std::span<std::byte> data,
                        const InterNodeOptions& options);

}  // namespace ddl
