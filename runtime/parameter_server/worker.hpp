// SPDX-License-Identifier: MIT
// The worker in a training with parameter servers: loads images, computes gradients, exchanges them for
// weights.
#pragma once

#include "runtime/parameter_server/ps_transport.hpp"
#include "runtime/parameter_server/roles.hpp"
#include "runtime/training/batch_loader.hpp"
#include "runtime/training/evaluation.hpp"
#include "runtime/training/trainer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ddlrun::runtime {

// Inputs of a rank; all references must outlive it.
struct ServerRun {
  TrainPlan plan;
  ServerRoles roles;
  const Net& net;
  const Dataset& data;
  Communicator& ranks;
  PsTransport& transport;
  TrainObserver& observer;
  TrainSaver& saver;
  const TrainTrace* trace;  // null: no trace

  std::size_t workers() const { return static_cast<std::size_t>(ranks.size()) - roles.servers; }
  TraceSink* sink() const { return trace == nullptr ? nullptr : trace->layers.sink; }
};

class Worker {
 public:
  // `parameters`: of the whole net; the replies of the servers overwrite them.
  Worker(const ServerRun& run, const DataShard& shard, const EngineFactory& make_engine,
         std::span<float> parameters, const TrainPosition& start);

  // Runs steps from `done` to `until` or to the stop step. Returns how many are done.
  std::size_t work_until(std::size_t done, std::size_t until, std::size_t epoch, TrainSummary& summary);

  Evaluation& evaluation() { return evaluation_; }
  std::span<float> layer_state() { return engine_->state(); }
  // Totals of this worker's images since the last call.
  LossSum take_totals();

 private:
  StepRecord work(std::size_t done, std::size_t& until, std::size_t epoch);
  double exchange(std::size_t done, std::size_t& until, double loss);
  [[noreturn]] void refuse_mine(std::size_t done) const;

  const ServerRun& run_;
  std::size_t local_batch_;
  std::span<float> parameters_;
  std::vector<int> servers_;
  std::vector<Range> shards_;
  std::vector<float> gradients_;
  std::unique_ptr<Engine> engine_;
  Evaluation evaluation_;
  BatchLoader batch_loader_;
  std::uint64_t end_step_ = 0;
  bool server_requests_stop_ = false;
  LossSum totals_;
};

}  // namespace ddlrun::runtime
