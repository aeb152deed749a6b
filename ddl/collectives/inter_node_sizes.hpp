// SPDX-License-Identifier: MIT
// Sizes of sums between hosts. A header of its own: bench/predict computes the time of a sum from them.
#pragma once

#include <cstddef>

namespace ddl {

constexpr int max_ranks_of_comm = 1024;             // what reduce() adds at once
constexpr int max_direct_peers = 7;                 // gathered: beyond, doubling takes fewer messages
constexpr std::size_t chunks_aimed_at = 16;         // so that the first and the last cost little
constexpr std::size_t smallest_message = 16 << 10;  // below, a message costs more than its bytes
constexpr std::size_t usual_message = 32 << 10;     // InterNodeOptions::message_bytes
constexpr std::size_t most_gathered = 16 << 10;     // InterNodeOptions::gathered_bytes

}  // namespace ddl
