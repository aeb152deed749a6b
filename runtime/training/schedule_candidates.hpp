// SPDX-License-Identifier: MIT
// What a plan leaves open is chosen here: where weights are updated, which ways to make sums are tried.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/training/gradient_reducer.hpp"
#include "runtime/training/train_plan.hpp"

#include <vector>

namespace ddlrun::runtime {

// The same answer on all ranks.
bool updates_for_host(const TrainPlan& plan, const Communicator& ranks);
// `reads_told`: the engine tells of parameters before it reads them.
std::vector<SumWay> choose_ways(const TrainPlan& plan, const Net& net, const Communicator& ranks,
                                bool reads_told);

}  // namespace ddlrun::runtime
