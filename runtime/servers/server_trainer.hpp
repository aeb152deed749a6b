// SPDX-License-Identifier: MIT
// Training through parameter servers: the first ranks are workers, the last ones servers, each with a shard
// of the weights. Within an epoch workers and servers exchange parcels; at its end all ranks meet, test and
// save as they do without servers. Synchronous: the loss curve of the same batches summed by all-reduce.
// Asynchronous: each worker at its own pace.
#pragma once

#include "runtime/servers/parcels.hpp"
#include "runtime/training/trainer.hpp"

#include <cstddef>
#include <cstdint>

namespace ddlrun::runtime {

struct ServerRoles {
  std::size_t servers = 1;
  bool asynchronous = false;
  std::size_t staleness = SIZE_MAX;  // asynchronous: most steps between the fastest and the slowest worker
};

// What cannot be: as many servers as ranks, a rule that needs norms, accumulation, data split over hosts.
// Throws Error(usage).
void check_servers(const TrainPlan& plan, const ServerRoles& roles, std::size_t ranks);

// Collective, as train(); plan.global_batch is that of all workers, and a step is one of each worker.
TrainSummary train_with_servers(const TrainPlan& plan, const ServerRoles& roles, const Net& net,
                                const Dataset& data, Communicator& ranks, Parcels& parcels,
                                const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
                                const TrainState* start);

}  // namespace ddlrun::runtime
