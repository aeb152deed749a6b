// SPDX-License-Identifier: MIT
// Resolves what a plan leaves automatic: where weights are updated and which reduce schedules to try.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/training/gradient_reducer.hpp"
#include "runtime/training/train_plan.hpp"

#include <vector>

namespace ddlrun::runtime {

// Whether the ranks of a host share one copy of the weights. Returns the same on all ranks.
bool shares_weights_on_host(const TrainPlan& plan, const Communicator& ranks);
// `reports_reads`: the engine calls on_parameters_needed() callbacks.
std::vector<ReduceSchedule> schedule_candidates(const TrainPlan& plan, const Net& net,
                                                const Communicator& ranks, bool reports_reads);
// The same for several ranks, whatever ranks there are now. `chunk_invariant`: as
// Communicator::chunk_invariant_sums().
std::vector<ReduceSchedule> schedules_of_several_ranks(const TrainPlan& plan, const Net& net,
                                                       bool reports_reads, bool chunk_invariant);

}  // namespace ddlrun::runtime
