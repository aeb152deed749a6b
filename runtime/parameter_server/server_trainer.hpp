// SPDX-License-Identifier: MIT
// Training with parameter servers: the first ranks are workers, the last ones servers, each with a shard of
// the weights. Workers push gradients and pull weights; all ranks synchronize for a test or a checkpoint:
// after an epoch, or as --test-every and --checkpoint-every set. Synchronous: the loss curve equals that of
// all-reduce with the same batches. Asynchronous: each worker runs at its own pace.
#pragma once

#include "runtime/parameter_server/ps_transport.hpp"
#include "runtime/parameter_server/roles.hpp"
#include "runtime/training/trainer.hpp"

namespace ddlrun::runtime {

// Collective, as train(). plan.global_batch is that of all workers; a step is one step of each worker.
TrainSummary train_with_servers(const TrainPlan& plan, const ServerRoles& roles, const Net& net,
                                const Dataset& data, Communicator& ranks, PsTransport& transport,
                                const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
                                const TrainState* start, const TrainTrace* trace = nullptr);

}  // namespace ddlrun::runtime
