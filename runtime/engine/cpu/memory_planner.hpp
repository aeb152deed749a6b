// SPDX-License-Identifier: MIT
// Assigns offsets in one arena to buffers with known lifetimes. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ddlrun::runtime::cpu {

// Used from step `first` to step `last`, both included; never, if first > last.
struct BufferLifetime {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;  // multiples of 4 kB, so that no two share a cache line or a page
  std::size_t bytes = 0;
};

// Buffers whose lifetimes overlap get disjoint regions. Large ones are placed first.
MemoryPlan plan_memory(std::span<const BufferLifetime> lifetimes);

}  // namespace ddlrun::runtime::cpu
