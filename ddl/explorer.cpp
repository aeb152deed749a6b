// SPDX-License-Identifier: MIT
#include "ddl/explorer.hpp"

#include <algorithm>
#include <bit>

namespace ddl {
namespace {

int size_class(std::size_t bytes) { return std::bit_width(bytes); }

}  // namespace

Mode Explorer::next(std::size_t bytes) const {
  const auto found = trials_.find(size_class(bytes));
  if (found == trials_.end()) return ways[0];
  const Trial& trial = found->second;
  return trial.chosen.value_or(ways[static_cast<std::size_t>(trial.calls) % ways.size()]);
}

std::optional<Explorer::Seconds> Explorer::add(std::size_t bytes, double seconds) {
  Trial& trial = trials_[size_class(bytes)];
  if (trial.chosen) return std::nullopt;
  double& best = trial.best[static_cast<std::size_t>(trial.calls) % ways.size()];
  best = trial.calls < static_cast<int>(ways.size()) ? seconds : std::min(best, seconds);
  ++trial.calls;
  if (trial.calls < rounds * static_cast<int>(ways.size())) return std::nullopt;
  return trial.best;
}

void Explorer::settle(std::size_t bytes, const Seconds& slowest) {
  const auto fastest = std::min_element(slowest.begin(), slowest.end());
  trials_[size_class(bytes)].chosen = ways[static_cast<std::size_t>(fastest - slowest.begin())];
}

void Explorer::recall(const ChosenWays& ways_by_size) {
  for (const auto& [size, way] : ways_by_size) trials_[size].chosen = way;
}

ChosenWays Explorer::chosen() const {
  ChosenWays settled;
  for (const auto& [size, trial] : trials_) {
    if (trial.chosen) settled.emplace(size, *trial.chosen);
  }
  return settled;
}

}  // namespace ddl
