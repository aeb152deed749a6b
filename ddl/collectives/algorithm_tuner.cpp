// SPDX-License-Identifier: MIT
#include "ddl/collectives/algorithm_tuner.hpp"

#include <algorithm>
#include <bit>

namespace ddl {
namespace {

int size_class(std::size_t bytes) { return std::bit_width(bytes); }

std::vector<Trials::Turn> one_call_each() {
  return std::vector<Trials::Turn>(AlgorithmTuner::algorithms.size());
}

}  // namespace

Mode AlgorithmTuner::choose(std::size_t bytes) const {
  const auto found = trials_.find(size_class(bytes));
  return algorithms[found == trials_.end() ? 0 : found->second.current()];
}

Trials& AlgorithmTuner::trials_of(std::size_t bytes) {
  return trials_.try_emplace(size_class(bytes), one_call_each(), Trials::Plan{}).first->second;
}

std::vector<double> AlgorithmTuner::add(std::size_t bytes, double seconds) {
  Trials& trials = trials_of(bytes);
  return trials.add(seconds) ? trials.medians() : std::vector<double>();
}

void AlgorithmTuner::finish_trial(std::size_t bytes, std::span<const double> slowest) {
  trials_of(bytes).decide(slowest);
}

void AlgorithmTuner::load(const TunedAlgorithms& algorithms_by_size) {
  for (const auto& [size, algorithm] : algorithms_by_size) {
    Trials& trials = trials_.try_emplace(size, one_call_each(), Trials::Plan{}).first->second;
    const auto place = std::find(algorithms.begin(), algorithms.end(), algorithm);
    trials.keep(static_cast<std::size_t>(place - algorithms.begin()));
  }
}

TunedAlgorithms AlgorithmTuner::chosen() const {
  TunedAlgorithms result;
  for (const auto& [size, trials] : trials_) {
    if (trials.decided()) result.emplace(size, algorithms[trials.current()]);
  }
  return result;
}

}  // namespace ddl
