// SPDX-License-Identifier: MIT
// File layout of a part: a header of one page, the names (16 bits of length and the bytes), the records (four
// 64-bit words each). Only for timeline_part.cpp and timeline_read.cpp.
#pragma once

#include "runtime/telemetry/timeline_part.hpp"

#include <atomic>

namespace ddlrun::runtime {

constexpr char part_magic[8] = {'d', 'd', 'l', 't', 'r', 'c', '1', '\n'};
constexpr std::size_t part_header_bytes = 4096;
constexpr std::size_t part_names_bytes = 64 << 10;
constexpr std::size_t part_record_words = 4;
constexpr std::size_t part_record_bytes = part_record_words * sizeof(std::uint64_t);
// Word 2 of a record: duration, lane and name.
constexpr unsigned part_duration_bits = 44;
constexpr unsigned part_lane_bits = 4;
constexpr std::uint64_t part_longest = (std::uint64_t{1} << part_duration_bits) - 1;

struct PartHeader {
  char magic[8];
  std::uint64_t record_bytes;
  std::uint64_t capacity;  // records
  std::uint64_t run;
  std::uint64_t images_per_step;
  std::int64_t wall_ns;
  std::int64_t start_ns;
  std::int32_t rank;
  std::int32_t ranks;
  char host[256];
  ClockReading clocks[2];
  std::uint64_t clocks_known;
  std::uint64_t names_used;  // bytes
  alignas(
      64) std::uint64_t recorded;  // records begun; on its own cache line, because all threads increment it
};
static_assert(sizeof(PartHeader) <= part_header_bytes);

inline std::uint64_t load_word(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

}  // namespace ddlrun::runtime
