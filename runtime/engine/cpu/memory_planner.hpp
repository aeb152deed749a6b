// SPDX-License-Identifier: MIT
// Places for memories that are needed one after the other in one piece of arena. Pure.
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

// Needs that overlap in time do not overlap in place. Large ones are placed first.
MemoryPlan plan_memory(std::span<const BufferLifetime> lifetimes);

}  // namespace ddlrun::runtime::cpu
