// SPDX-License-Identifier: MIT
#include "launch/top/slowest.hpp"

#include "base/text/text.hpp"
#include "launch/history/history.hpp"
#include "launch/monitor/rank_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ddlrun::launch {

namespace {

// A rank that has less than this part of the median waits for a core more than the others do.
constexpr double starved_part = 0.7;

std::vector<const RankState*> in_phase(const UsageState& state, RankPhase phase) {
  std::vector<const RankState*> found;
  for (const RankState& rank : state.ranks)
    if (rank.phase == phase) found.push_back(&rank);
  return found;
}

std::string name_all(const UsageState& state, const std::vector<const RankState*>& ranks) {
  std::vector<std::uint32_t> numbers;
  for (const RankState* rank : ranks) numbers.push_back(rank->rank);
  return name_ranks(numbers, printable(state.hosts[ranks.front()->host].name, 60));
}

std::string with_verb(const std::string& who, std::size_t count, std::string_view one,
                      std::string_view many) {
  return fmt::format("{} {}", who, count == 1 ? one : many);
}

}  // namespace

double core_use(const RankState& rank) {
  return std::max(rank.cpu_percent, 0) / 100.0 / std::max(rank.cores, 1);
}

double median_use(const UsageState& state) {
  std::vector<double> uses;
  for (const RankState* rank : in_phase(state, RankPhase::running)) uses.push_back(core_use(*rank));
  if (uses.empty()) return 0;
  const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
  std::nth_element(uses.begin(), middle, uses.end());
  return *middle;
}

std::string describe_slowest(const UsageState& state) {
  for (const auto& [phase, one, many] : {std::tuple{RankPhase::stopped, "is stopped", "are stopped"},
                                         std::tuple{RankPhase::silent, "is silent", "are silent"}}) {
    const auto ranks = in_phase(state, phase);
    if (ranks.empty()) continue;
    const auto longest = std::max_element(ranks.begin(), ranks.end(),
                                          [](auto* a, auto* b) { return a->quiet_s < b->quiet_s; });
    return with_verb(name_all(state, ranks), ranks.size(), one, many) +
           fmt::format(", for {}", render_duration((*longest)->quiet_s));
  }
  const auto running = in_phase(state, RankPhase::running), waiting = in_phase(state, RankPhase::waiting);
  const std::size_t alive = running.size() + waiting.size();
  if (running.empty())
    return waiting.size() > 1 ? fmt::format("none works: all {} wait", waiting.size()) : "none stands out";
  if (2 * running.size() <= alive && !waiting.empty())
    return with_verb(name_all(state, running), running.size(), "works", "work") +
           fmt::format(" while {} of {} ranks wait", waiting.size(), alive);
  const auto least = *std::min_element(running.begin(), running.end(),
                                       [](auto* a, auto* b) { return core_use(*a) < core_use(*b); });
  const double median = median_use(state);
  if (core_use(*least) < starved_part * median)
    return fmt::format("rank {} on {} uses {:.0f} % of its cores, the others {:.0f} %", least->rank,
                       printable(state.hosts[least->host].name, 60), 100 * core_use(*least), 100 * median);
  return "none stands out";
}

}  // namespace ddlrun::launch
