// SPDX-License-Identifier: MIT
// The weights, and what the update rule keeps for each: this rank's own, or one copy for all ranks of the
// host, of which each rank updates a part.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/training/optimizer.hpp"
#include "runtime/training/records.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ddlrun::runtime {

class Weights {
 public:
  // Collective if `one_a_host`. The net and the ranks outlive it.
  Weights(const Net& net, const UpdateRule& rule, Communicator& ranks, bool one_a_host);
  // `learning_` points into the vectors.
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  // Collective: rank 0's start on all ranks, or the first values that `seed` gives.
  void start(std::uint64_t seed, const TrainState* start);

  // Stay where they are.
  std::span<float> parameters() const { return learning_.parameters; }
  std::vector<std::span<const float>> rule_state() const;
  bool one_a_host() const { return one_a_host_; }

  // Learns from the sums of parameters [begin, begin + sums.size()). What holds a number that is not finite
  // is left as it is, in pieces that fit the caches; then the answer is false.
  bool learn(std::size_t begin, std::span<const float> sums, const StepRates& rates) const;
  // From all sums together, for rules that need norms. Nothing is learnt if one of them is not finite.
  bool learn_all(std::span<const float> sums, const StepRates& rates) const;

  bool finite() const;
  std::uint64_t hash() const;  // of the parameters

 private:
  std::span<float> make(std::size_t count);
  void share(std::span<float> values) const;

  const Net& net_;
  UpdateRule rule_;
  Communicator& ranks_;
  bool one_a_host_;
  std::vector<RateRun> rates_;
  std::vector<std::vector<float>> own_;
  Learning learning_;
};

}  // namespace ddlrun::runtime
