// SPDX-License-Identifier: MIT
// The training loop, for any engine and any group of ranks. It neither prints nor writes files: it reports to
// an observer and saves through a saver.
//
//   start or resume: seed or checkpoint -> the same weights on all ranks
//   each step:  next batch (BatchLoader) -> forward and backward pass (Engine), micro-batch by micro-batch
//               -> gradients_final() -> sums and updates (GradientReducer) -> observer
//   between steps, when all ranks agree: change the reduce schedule, test, save, end of an epoch
//   end: all steps done, a stop signal on any rank (saved first), or an Error that all ranks throw
//
// All decisions use sums over all ranks, so that the ranks stay in step. The reduce schedule changes no bit
// of the result.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/models/net.hpp"
#include "runtime/training/gradient_reducer.hpp"
#include "runtime/training/observer.hpp"
#include "runtime/training/train_plan.hpp"

namespace ddlrun::runtime {

// Names for the spans of a run. Must outlive the trace sink.
struct TrainTrace {
  LayerTrace layers;
  ReductionTrace sums;
  std::string test = "test";
  std::string save = "checkpoint";
};
TrainTrace make_train_trace(TraceSink& sink, const Net& net);

// Collective. `start`: state to resume from: the position on all ranks, the vectors (of the net's sizes) on
// rank 0; null: a new run. Throws Error if the batch does not fit the ranks or images, CollectiveError if a
// loss or gradient is not finite (naming the ranks) or if weights differ between ranks.
TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer);
TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
                   const TrainState* start, const TrainTrace* trace = nullptr);

}  // namespace ddlrun::runtime
