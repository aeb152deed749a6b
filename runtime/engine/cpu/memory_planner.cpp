// SPDX-License-Identifier: MIT
#include "runtime/engine/cpu/memory_planner.hpp"

#include <algorithm>
#include <numeric>

namespace ddlrun::runtime::cpu {
namespace {

constexpr std::size_t buffer_alignment = 4096;

struct PlacedBuffer {
  std::size_t begin;
  std::size_t end;
};

// The lowest gap among those that are alive at the same time.
std::size_t find_gap(std::vector<PlacedBuffer> alive, std::size_t bytes) {
  std::sort(alive.begin(), alive.end(),
            [](const PlacedBuffer& a, const PlacedBuffer& b) { return a.begin < b.begin; });
  std::size_t offset = 0;
  for (const PlacedBuffer& other : alive) {
    if (other.begin >= offset + bytes) break;
    offset = std::max(offset, other.end);
  }
  return offset;
}

}  // namespace

MemoryPlan plan_memory(std::span<const BufferLifetime> lifetimes) {
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  MemoryPlan plan{std::vector<std::size_t>(lifetimes.size(), 0), 0};
  std::vector<std::size_t> placed;
  for (const std::size_t i : order) {
    const std::size_t bytes =
        (lifetimes[i].bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
    if (lifetimes[i].first > lifetimes[i].last || bytes == 0) continue;
    std::vector<PlacedBuffer> alive;
    for (const std::size_t k : placed) {
      if (lifetimes[k].last < lifetimes[i].first || lifetimes[i].last < lifetimes[k].first) continue;
      alive.push_back({plan.offsets[k], plan.offsets[k] + (lifetimes[k].bytes + buffer_alignment - 1) /
                                                              buffer_alignment * buffer_alignment});
    }
    plan.offsets[i] = find_gap(std::move(alive), bytes);
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + bytes);
    placed.push_back(i);
  }
  return plan;
}

}  // namespace ddlrun::runtime::cpu
