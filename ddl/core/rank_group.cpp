// SPDX-License-Identifier: MIT
#include "ddl/core/rank_group.hpp"

#include "ddl/core/rank_consistency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace ddl {

std::string render_split_request(const SplitRequest& request) {
  return fmt::format("{} {} {} {}", request.color ? 1 : 0, request.color.value_or(0), request.key,
                     request.channel);
}

std::optional<SplitRequest> parse_split_request(const std::string& text) {
  std::istringstream words(text);
  bool has_color = false;
  int color = 0;
  SplitRequest request;
  if (!(words >> has_color >> color >> request.key >> request.channel)) return std::nullopt;
  if (has_color) request.color = color;
  return request;
}

SplitPlan plan_split(std::span<const SplitRequest> requests, int rank) {
  SplitPlan plan;
  for (const SplitRequest& each : requests) plan.channel = std::max(plan.channel, each.channel);
  const std::optional<int> mine = requests[static_cast<std::size_t>(rank)].color;
  if (!mine) return plan;
  plan.color = *mine;
  for (int other = 0; other < static_cast<int>(requests.size()); ++other) {
    if (requests[static_cast<std::size_t>(other)].color == mine) plan.members.push_back(other);
  }
  std::stable_sort(plan.members.begin(), plan.members.end(), [&](int a, int b) {
    return requests[static_cast<std::size_t>(a)].key < requests[static_cast<std::size_t>(b)].key;
  });
  plan.me =
      static_cast<int>(std::find(plan.members.begin(), plan.members.end(), rank) - plan.members.begin());
  return plan;
}

RankGroup make_group(const RankGroup& parent, const SplitPlan& plan, std::uint64_t call,
                     const std::string& name) {
  const std::uint64_t numbers[] = {parent.id, call, static_cast<std::uint64_t>(plan.color)};
  RankGroup group;
  group.id = hash_numbers(numbers);
  group.name = name.empty() ? fmt::format("group {} of split #{}{}", plan.color, call,
                                          parent.name.empty() ? "" : " of " + parent.name)
                            : fmt::format("{} {}", name, plan.color);
  for (const int member : plan.members)
    group.ranks.push_back(parent.ranks.empty() ? member : parent.ranks[static_cast<std::size_t>(member)]);
  return group;
}

}  // namespace ddl
