// SPDX-License-Identifier: MIT
// Long vectors summed in chunks. A chunk goes up the levels (scatter), then down (gather); while one chunk is
// added others are on the wires, on all levels at once. All ranks post the same messages in the same order.
#pragma once

#include "ddl/collectives/inter_node_exchange.hpp"

namespace ddl {

// `wires` are at least one, each of at least two ranks.
void all_reduce_in_chunks(PeerComms comms, const Reduction& reduction, std::byte* data, std::size_t count,
                          const InterNodeOptions& options, Scratch& scratch, const PipelineHooks& hooks);

}  // namespace ddl
