// SPDX-License-Identifier: MIT
// Half-open ranges of indices, and how to cut one into even chunks.
#pragma once

#include <cstddef>

namespace ddlrun::runtime {

// [begin, end)
struct Range {
  std::size_t begin;
  std::size_t end;
};

// Chunk `index` of [0, count) cut into `chunks` contiguous chunks; their sizes differ by at most one.
constexpr Range even_chunk(std::size_t count, std::size_t index, std::size_t chunks) {
  const std::size_t base = count / chunks;
  const std::size_t rest = count % chunks;
  const std::size_t begin = index * base + (index < rest ? index : rest);
  return {begin, begin + base + (index < rest ? 1 : 0)};
}

}  // namespace ddlrun::runtime
