// SPDX-License-Identifier: MIT
// The record "layers" of the metrics: where the gradients of each layer are, and the buckets in which several
// ranks would reduce them. `ddlrun bench predict` reads it.
#pragma once

#include "runtime/models/net.hpp"
#include "runtime/training/train_plan.hpp"

#include <string>

namespace ddlrun::runtime {

// One JSON object without a newline. `reports_reads`: as in schedule_candidates().
std::string render_layers_record(const Net& net, const TrainPlan& plan, bool reports_reads);

}  // namespace ddlrun::runtime
