// SPDX-License-Identifier: MIT
// The weights, and what the update optimizer keeps for each: this rank's own, or one copy for all ranks of
// the host, of which each rank updates a part.
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
  // Collective if `host_shared`. The net and the ranks outlive it.
  Weights(const Net& net, const Optimizer& optimizer, Communicator& ranks, bool host_shared);
  // `state_` points into the vectors.
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  // Collective: rank 0's start on all ranks, or the first values that `seed` gives.
  void start(std::uint64_t seed, const TrainState* start);

  // Stay where they are.
  std::span<float> parameters() const { return state_.parameters; }
  std::vector<std::span<const float>> optimizer_state() const;
  bool host_shared() const { return host_shared_; }

  // Learns from the sums of parameters [begin, begin + sums.size()). What holds a number that is not finite
  // is left as it is, in pieces that fit the caches; then the answer is false.
  bool apply(std::size_t begin, std::span<const float> sums, const StepHyperparams& rates) const;
  // From all sums together, for optimizers that need norms. Nothing is learnt if one of them is not finite.
  bool apply_all(std::span<const float> sums, const StepHyperparams& rates) const;

  bool finite() const;
  std::uint64_t hash() const;  // of the parameters

 private:
  std::span<float> make(std::size_t count);
  void share(std::span<float> values) const;

  const Net& net_;
  Optimizer optimizer_;
  Communicator& ranks_;
  bool host_shared_;
  std::vector<ParamGroup> groups_;
  std::vector<std::vector<float>> own_;
  OptimizerState state_;
};

}  // namespace ddlrun::runtime
