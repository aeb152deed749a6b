// SPDX-License-Identifier: MIT
// What a plan leaves open is chosen here: where weights are updated, which schedules to make sums are tried.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/training/gradient_reducer.hpp"
#include "runtime/training/train_plan.hpp"

#include <vector>

namespace ddlrun::runtime {

// The same answer on all ranks.
bool shares_weights_on_host(const TrainPlan& plan, const Communicator& ranks);
// `reports_reads`: the engine tells of parameters before it reads them.
std::vector<ReduceSchedule> schedule_candidates(const TrainPlan& plan, const Net& net,
                                                const Communicator& ranks, bool reports_reads);

}  // namespace ddlrun::runtime
