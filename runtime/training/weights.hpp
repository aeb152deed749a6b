// SPDX-License-Identifier: MIT
// The weights and the state of the optimizer: a copy per rank, or one shared copy per host, of which each
// rank updates a part.
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
  // Collective if `host_shared`. Net and ranks must outlive it.
  Weights(const Net& net, const Optimizer& optimizer, Communicator& ranks, bool host_shared);
  // `state_` points into the vectors.
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  // Collective. Sets the weights of all ranks to rank 0's `start`, or to the initial values for `seed` if it
  // is null.
  void start(std::uint64_t seed, const TrainState* start);

  // The address never changes.
  std::span<float> parameters() const { return state_.parameters; }
  std::vector<std::span<const float>> optimizer_state() const;
  bool host_shared() const { return host_shared_; }

  // Updates parameters [begin, begin + sums.size()) from the reduced gradients. Skips chunks that contain a
  // value that is not finite; then returns false.
  bool apply(std::size_t begin, std::span<const float> sums, const StepHyperparams& rates) const;
  // Updates all parameters at once, for optimizers that need norms. Changes nothing and returns false if a
  // value is not finite.
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
