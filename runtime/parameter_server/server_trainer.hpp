// SPDX-License-Identifier: MIT
// Training through parameter servers: the first ranks are workers, the last ones servers, each with a shard
// of the weights. Workers and servers exchange transport, and all ranks meet where a test or a checkpoint is
// due: after an epoch, or as --test-every and --checkpoint-every say. Synchronous: the loss curve of the same
// batches summed by all-reduce. Asynchronous: each worker at its own pace.
#pragma once

#include "runtime/parameter_server/ps_transport.hpp"
#include "runtime/parameter_server/roles.hpp"
#include "runtime/training/trainer.hpp"

namespace ddlrun::runtime {

// Collective, as train(); plan.global_batch is that of all workers, and a step is one of each worker.
TrainSummary train_with_servers(const TrainPlan& plan, const ServerRoles& roles, const Net& net,
                                const Dataset& data, Communicator& ranks, PsTransport& transport,
                                const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
                                const TrainState* start, const TrainTrace* trace = nullptr);

}  // namespace ddlrun::runtime
