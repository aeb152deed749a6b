// SPDX-License-Identifier: MIT
#include "runtime/engine/cpu/memory_planner.hpp"

#include <algorithm>
#include <numeric>

namespace ddlrun::runtime::cpu {
namespace {

constexpr std::size_t room_grain = 4096;

struct PlacedNeed {
  std::size_t begin;
  std::size_t end;
};

// The lowest gap among those that are alive at the same time.
std::size_t find_gap(std::vector<PlacedNeed> alive, std::size_t bytes) {
  std::sort(alive.begin(), alive.end(),
            [](const PlacedNeed& a, const PlacedNeed& b) { return a.begin < b.begin; });
  std::size_t offset = 0;
  for (const PlacedNeed& other : alive) {
    if (other.begin >= offset + bytes) break;
    offset = std::max(offset, other.end);
  }
  return offset;
}

}  // namespace

RoomPlan plan_room(std::span<const RoomNeed> needs) {
  std::vector<std::size_t> order(needs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return needs[a].bytes > needs[b].bytes; });
  RoomPlan plan{std::vector<std::size_t>(needs.size(), 0), 0};
  std::vector<std::size_t> placed;
  for (const std::size_t i : order) {
    const std::size_t bytes = (needs[i].bytes + room_grain - 1) / room_grain * room_grain;
    if (needs[i].first > needs[i].last || bytes == 0) continue;
    std::vector<PlacedNeed> alive;
    for (const std::size_t k : placed) {
      if (needs[k].last < needs[i].first || needs[i].last < needs[k].first) continue;
      alive.push_back(
          {plan.offsets[k], plan.offsets[k] + (needs[k].bytes + room_grain - 1) / room_grain * room_grain});
    }
    plan.offsets[i] = find_gap(std::move(alive), bytes);
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + bytes);
    placed.push_back(i);
  }
  return plan;
}

}  // namespace ddlrun::runtime::cpu
