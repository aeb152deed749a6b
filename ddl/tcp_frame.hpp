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
constexpr std::uint32_t texts = 0;    // Ranks::gather
constexpr std::uint32_t notes = 1;    // NoteBox
constexpr std::uint32_t goodbye = 2;  // the last message; stamp 1: after an error
constexpr std::uint32_t first_wire = 16;
}  // namespace channel

struct FrameHead {
  std::uint32_t channel = 0;
  std::uint32_t stamp = 0;
  std::uint64_t bytes = 0;
};
using FrameHeadBytes = std::array<std::byte, 24>;

// Numbers as this machine has them: what follows is numbers too, so all machines of a run are alike.
constexpr std::uint32_t frame_mark = 0x6c64642fu;

inline std::uint32_t check_of(const FrameHead& head) {
  const std::uint64_t mixed =
      (head.bytes ^ (static_cast<std::uint64_t>(head.channel) << 32 | head.stamp)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::uint32_t>(mixed >> 32) ^ frame_mark;
}

inline FrameHeadBytes render_head(const FrameHead& head) {
  FrameHeadBytes bytes{};
  const std::uint32_t words[] = {frame_mark, check_of(head), head.channel, head.stamp};
  std::memcpy(bytes.data(), words, sizeof(words));
  std::memcpy(bytes.data() + sizeof(words), &head.bytes, sizeof(head.bytes));
  return bytes;
}

// Nothing when these bytes are no head.
inline std::optional<FrameHead> parse_head(const FrameHeadBytes& bytes) {
  std::uint32_t words[4];
  FrameHead head;
  std::memcpy(words, bytes.data(), sizeof(words));
  std::memcpy(&head.bytes, bytes.data() + sizeof(words), sizeof(head.bytes));
  head.channel = words[2];
  head.stamp = words[3];
  if (words[0] != frame_mark || words[1] != check_of(head)) return std::nullopt;
  return head;
}

}  // namespace ddl
