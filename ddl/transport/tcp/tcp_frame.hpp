// SPDX-License-Identifier: MIT
// The head of each message between two ranks that have let each other in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace ddl {

// Each wire between two ranks has a channel of its own; the first ones are ours.
namespace channel {
constexpr std::uint32_t gather = 0;   // Transport::gather
constexpr std::uint32_t oob = 1;      // OobChannel
constexpr std::uint32_t goodbye = 2;  // the last message; stamp 1: after an error
constexpr std::uint32_t first_comm = 16;
}  // namespace channel

struct FrameHeader {
  std::uint32_t channel = 0;
  std::uint32_t call_id = 0;
  std::uint64_t bytes = 0;
};
using FrameHeaderBytes = std::array<std::byte, 24>;

// Numbers as this machine has them: what follows is numbers too, so all machines of a run are alike.
constexpr std::uint32_t frame_magic = 0x6c64642fu;

inline std::uint32_t checksum_of(const FrameHeader& header) {
  const std::uint64_t mixed =
      (header.bytes ^ (static_cast<std::uint64_t>(header.channel) << 32 | header.call_id)) *
      0x9e3779b97f4a7c15u;
  return static_cast<std::uint32_t>(mixed >> 32) ^ frame_magic;
}

inline FrameHeaderBytes render_header(const FrameHeader& header) {
  FrameHeaderBytes bytes{};
  const std::uint32_t words[] = {frame_magic, checksum_of(header), header.channel, header.call_id};
  std::memcpy(bytes.data(), words, sizeof(words));
  std::memcpy(bytes.data() + sizeof(words), &header.bytes, sizeof(header.bytes));
  return bytes;
}

// Nothing when these bytes are no head.
inline std::optional<FrameHeader> parse_header(const FrameHeaderBytes& bytes) {
  std::uint32_t words[4];
  FrameHeader header;
  std::memcpy(words, bytes.data(), sizeof(words));
  std::memcpy(&header.bytes, bytes.data() + sizeof(words), sizeof(header.bytes));
  header.channel = words[2];
  header.call_id = words[3];
  if (words[0] != frame_magic || words[1] != checksum_of(header)) return std::nullopt;
  return header;
}

}  // namespace ddl
