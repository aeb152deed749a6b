// SPDX-License-Identifier: MIT
// State machine of a parameter server: one shard of the flat weights, updated from the gradients of workers.
// Pure: it receives pushes and returns the workers that may continue.
//
//  asynchronous  each push updates the weights at once; a worker more than `staleness` steps ahead waits
//  synchronous   the pushes of a step are summed in the order of the workers and update the weights once
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

// Counts the updates by other workers between a worker's pull and its push.
struct StalenessStats {
  std::uint64_t pushes = 0;
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
};

class ShardServer {
 public:
  // `groups`: of the whole net. `weights` and `state`: of this shard only.
  ShardServer(ServerPlan plan, Range shard, std::span<const ParamGroup> rates, std::vector<float> weights,
              std::vector<std::vector<float>> state);

  // Adds a worker's gradients of its next step (asynchronous: summed over its own images only). Returns the
  // workers that may continue with the current weights; they may or may not include this one.
  std::vector<std::size_t> push(std::size_t worker, std::span<const float> gradients);

  // Chooses the step at which all workers stop: the first that all can reach together.
  std::size_t stop();
  // Sets the stop step that another server has chosen.
  void stop_at(std::size_t step) { end_step_ = step; }
  std::optional<std::size_t> end_step() const { return end_step_; }
  // Steps done by the slowest worker.
  std::size_t done() const;
  // The workers whose push the others wait for; asynchronous: those that are not waiting.
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
