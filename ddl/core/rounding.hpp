// SPDX-License-Identifier: MIT
// Whole pages and whole lines: where shared memory begins, and what no two ranks should write at once.
#pragma once

#include <cstddef>

namespace ddl {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t line_bytes = 64;

// The multiple of `unit` at or above `value`.
constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace ddl
