// SPDX-License-Identifier: MIT
// Sizes of sums between hosts, and which way they travel. A header of its own: bench/predict computes the
// time of a sum from them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace ddl {

constexpr int max_ranks_of_comm = 1024;             // what reduce() adds at once
constexpr int max_direct_peers = 7;                 // gathered: beyond, doubling takes fewer messages
constexpr int most_direct_ranks = 8;                // fewer are never halved: one rounding for each level
constexpr std::size_t chunks_aimed_at = 16;         // so that the first and the last cost little
constexpr std::size_t smallest_message = 16 << 10;  // below, a message costs more than its bytes
constexpr std::size_t usual_message = 32 << 10;     // InterNodeOptions::message_bytes
constexpr std::size_t most_gathered = 16 << 10;     // InterNodeOptions::gathered_bytes
constexpr std::size_t messages_of_latency = 5;      // so many follow each other while one is under way

// Of one half of a sum by halving: ceil(log2 n).
constexpr int halving_steps(int ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); }

// Pieces that travel in such a step; the largest in the last of the gather, the first of the scatter.
constexpr int halving_blocks(int ranks, int step) { return std::min(1 << step, ranks - (1 << step)); }

// Of everybody's vectors to everybody.
constexpr int gathering_steps(int ranks) { return ranks - 1 <= max_direct_peers ? 1 : halving_steps(ranks); }

// Direct posts a chunk's messages all at once; halving posts one after the other, but fewer.
constexpr bool is_faster_by_halving(int ranks, std::size_t chunks) {
  const auto direct = static_cast<std::size_t>(ranks - 1);
  const auto steps = static_cast<std::size_t>(halving_steps(ranks));
  return ranks > most_direct_ranks &&
         chunks * direct + messages_of_latency > (chunks + messages_of_latency) * steps;
}

// Whether `best` takes halving on a level of so many ranks, each of which adds up `piece_bytes` of a chunk.
constexpr bool is_halved(int ranks, std::size_t piece_bytes, std::size_t chunks) {
  return piece_bytes < smallest_message && is_faster_by_halving(ranks, chunks);
}

// What a rank sends of a chunk in one half of the sum, by the ranks of each level; its messages on the upper
// levels are short.
constexpr std::size_t messages_of_chunk(std::span<const int> levels) {
  auto messages = static_cast<std::size_t>(levels.front());
  for (const int ranks : levels.subspan(1))
    messages += static_cast<std::size_t>(ranks > most_direct_ranks ? halving_steps(ranks) : ranks - 1);
  return messages;
}

}  // namespace ddl
