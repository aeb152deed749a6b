// SPDX-License-Identifier: MIT
// Collectives over the wires of one rank: between the ranks of the same local index on all hosts, level by
// level (hosts of a rack, racks, aisles). Every rank of every wire makes the same call with the same counts
// and options.
//
// Order and rounding: contributions are added in the order of the wire's ranks, by one rank for each piece,
// so all ranks get the same bits, and the same in every repetition. Within one level there is one rounding to
// the type (16-bit types are added in float32); each further level rounds once more. In a ring every hop
// rounds, in halving every step. An average is scaled once, in the last addition; max never is. A narrow wire
// (float32 as bfloat16 or float16): each contribution is narrowed before it travels, but the adder's own is
// not; they are added in float32; the partial sum of a level is narrowed again on the way to the next; the
// result is narrowed once, and the rank that added it takes the narrowed value too. Small sums that travel in
// one step are not narrowed.
#pragma once

#include "ddl/collectives/inter_node_sizes.hpp"
#include "ddl/core/kernels.hpp"
#include "ddl/transport/peer_comm.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ddl {

enum class InterNodeAlgorithm : std::uint8_t {
  best,     // gathered where small, else direct, on levels with many ranks and short pieces halving
  direct,   // each rank adds up its piece of what all others send it, and sends them the sum
  ring,     // the same by neighbours only
  halving,  // the same in log2 steps, by ranks at 1, 2, 4 ...: few messages, which wait for each other
  gathered  // everything to everyone at once, added by all: fewest steps, most bytes
};

struct InterNodeOptions {
  std::optional<DataType> wire_dtype;  // bfloat16 or float16; only float32 is narrowed
  InterNodeAlgorithm algorithm = InterNodeAlgorithm::best;
  std::uint32_t signature =
      0;  // of the call: a rank that calls another one is found out (PeerComm::set_call_id)
  // Long vectors travel in messages of about this size: below the eager limits of MPI (64 kB for TCP). Larger
  // ones are announced first, and the answer waits behind the data in the network's queues: 80 % of a wire,
  // not 99 %.
  std::size_t message_bytes = usual_message;
  // best: gathered when a rank would send no more than this; half of it more for each step beyond two.
  std::size_t gathered_bytes = most_gathered;
};

// A rank's wires, lowest level first; empty where there is one host.
using PeerComms = std::span<PeerComm* const>;

// Memory between calls. After an Error it must outlive the wires: messages may still be under way.
using Scratch = std::vector<std::byte>;

// What goes on beside the wires, stretch by stretch: each element once, in order. `fill` writes a stretch
// before any of it travels, `take` has its sums. While they work others' stretches are under way.
struct PipelineHooks {
  using Chunk = std::function<void(std::size_t first, std::size_t count)>;
  Chunk produce;
  Chunk consume;
};

// In place: the sum (average, maximum) over all levels of everybody's `data`. Without wires `data` is scaled.
void all_reduce(PeerComms comms, const Reduction& reduction, std::byte* data, std::size_t count,
                const InterNodeOptions& options, Scratch& scratch, const PipelineHooks& hooks = {});

// The part of `count` elements that this rank owns: piece by level. Pieces differ by one element at most;
// they are equal when the ranks on all levels divide `count`. The owners in order of their parts: lowest
// level slowest.
struct OwnedRange {
  std::size_t first = 0;
  std::size_t count = 0;
};
OwnedRange owned_range(PeerComms comms, std::size_t count);

// The sum, in my owned range only; the rest of `data` is left undefined.
void reduce_scatter(PeerComms comms, const Reduction& reduction, std::byte* data, std::size_t count,
                    const InterNodeOptions& options, Scratch& scratch);
// Everyone's owned range to everyone. With a narrow wire the values are narrowed, the owner's too.
void all_gather(PeerComms comms, DataType type, std::byte* data, std::size_t count,
                const InterNodeOptions& options, Scratch& scratch);

// `root`: its rank on each wire, lowest first (Grid::position_of).
void broadcast(PeerComms comms, std::span<const int> root, std::span<std::byte> data,
               const InterNodeOptions& options);

// The sum at the root only; elsewhere `data` is left undefined. As all_reduce, but for the algorithm.
void reduce(PeerComms comms, const Reduction& reduction, std::span<const int> root, std::byte* data,
            std::size_t count, const InterNodeOptions& options, Scratch& scratch);

// One wire: equal parts of the root's `whole`, one for each rank, from it or to it. Ranks but the root have
// their `part` only.
void scatter(PeerComm& comm, int root, std::span<std::byte> whole, std::span<std::byte> part,
             const InterNodeOptions& options);
void gather(PeerComm& comm, int root, std::span<std::byte> whole, std::span<std::byte> part,
            const InterNodeOptions& options);

// Returns when all ranks have come.
void barrier(PeerComms comms, const InterNodeOptions& options);

}  // namespace ddl
