// SPDX-License-Identifier: MIT
#include "ddl/collectives/algorithm_tuner.hpp"

#include <algorithm>
#include <bit>

namespace ddl {
namespace {

int size_class(std::size_t bytes) { return std::bit_width(bytes); }

}  // namespace

Mode AlgorithmTuner::choose(std::size_t bytes) const {
  const auto found = trials_.find(size_class(bytes));
  if (found == trials_.end()) return algorithms[0];
  const Trial& trial = found->second;
  return trial.chosen.value_or(algorithms[static_cast<std::size_t>(trial.calls) % algorithms.size()]);
}

std::optional<AlgorithmTuner::Seconds> AlgorithmTuner::add(std::size_t bytes, double seconds) {
  Trial& trial = trials_[size_class(bytes)];
  if (trial.chosen) return std::nullopt;
  double& best = trial.best[static_cast<std::size_t>(trial.calls) % algorithms.size()];
  best = trial.calls < static_cast<int>(algorithms.size()) ? seconds : std::min(best, seconds);
  ++trial.calls;
  if (trial.calls < rounds * static_cast<int>(algorithms.size())) return std::nullopt;
  return trial.best;
}

void AlgorithmTuner::finish_trial(std::size_t bytes, const Seconds& slowest) {
  const auto fastest = std::min_element(slowest.begin(), slowest.end());
  trials_[size_class(bytes)].chosen = algorithms[static_cast<std::size_t>(fastest - slowest.begin())];
}

void AlgorithmTuner::load(const TunedAlgorithms& algorithms_by_size) {
  for (const auto& [size, algorithm] : algorithms_by_size) trials_[size].chosen = algorithm;
}

TunedAlgorithms AlgorithmTuner::chosen() const {
  TunedAlgorithms is_idle;
  for (const auto& [size, trial] : trials_) {
    if (trial.chosen) is_idle.emplace(size, *trial.chosen);
  }
  return is_idle;
}

}  // namespace ddl
