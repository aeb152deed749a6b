// SPDX-License-Identifier: MIT
// A parameter server's mind: one shard of the flat weights, whose gradients come from workers. Pure: it is
// given pushes and says who may go on.
//
//   asynchronous  each push updates the weights at once; who is more than `staleness` steps ahead waits
//   synchronous   a step's pushes are added up in the workers' order, and update the weights once
#pragma once

#include "runtime/core/range.hpp"
#include "runtime/training/lr_schedule.hpp"
#include "runtime/training/optimizer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ddlrun::runtime {

struct ServerPlan {
  std::size_t workers = 1;
  bool asynchronous = false;
  std::size_t staleness = SIZE_MAX;  // asynchronous: most steps between the fastest and the slowest worker
  std::size_t first_step = 0;        // done before, by each worker
  LrSchedule schedule;
  Optimizer optimizer;  // not one that needs norms, and without clipping
};

// How many updates of others came between a worker's pull and its push.
struct StalenessStats {
  std::uint64_t pushes = 0;
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
};

class ShardServer {
 public:
  // `rates`: of the whole net. `weights` and `state`: of this shard alone.
  ShardServer(ServerPlan plan, Range shard, std::span<const ParamGroup> rates, std::vector<float> weights,
              std::vector<std::vector<float>> state);

  // A worker's gradients for its next step; asynchronous: of its own images only. Returns the workers that
  // may go on with the weights as they are now, this one among them or not.
  std::vector<std::size_t> push(std::size_t worker, std::span<const float> gradients);

  // From now on nobody goes further than to the step that is returned: the first that all can end together.
  std::size_t stop();
  // The same, as another server has decided.
  void stop_at(std::size_t step) { end_step_ = step; }
  std::optional<std::size_t> end_step() const { return end_step_; }
  // Done steps of the slowest worker.
  std::size_t done() const;
  // Those whose push the others cannot go on without; asynchronous: those that do not wait for others.
  std::vector<std::size_t> awaited() const;
  std::size_t workers() const { return plan_.workers; }
  bool asynchronous() const { return plan_.asynchronous; }

  std::span<const float> weights() const { return weights_; }
  std::span<const std::vector<float>> state() const { return state_; }
  std::uint64_t updates() const { return updates_; }
  const StalenessStats& staleness() const { return seen_; }

 private:
  void update(std::span<const float> gradients, std::size_t step);
  std::vector<std::size_t> push_at_once(std::size_t worker, std::span<const float> gradients);
  std::vector<std::size_t> push_together(std::size_t worker, std::span<const float> gradients);

  ServerPlan plan_;
  std::vector<ParamGroup> rates_;  // within the shard, from its first element
  std::vector<float> weights_;
  std::vector<std::vector<float>> state_;
  std::vector<std::size_t> done_;              // steps, by worker
  std::vector<std::uint64_t> pulled_;          // updates when a worker last got weights
  std::vector<bool> waits_;                    // asynchronous: too far ahead
  std::vector<std::vector<float>> gradients_;  // synchronous: of this step, by worker
  std::uint64_t updates_ = 0;
  std::optional<std::size_t> end_step_;
  StalenessStats seen_;
};

}  // namespace ddlrun::runtime
