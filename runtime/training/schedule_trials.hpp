// SPDX-License-Identifier: MIT
// The trial of reduce schedules in the first steps. The choice does not change a bit of the result.
#pragma once

#include "ddl/trials.hpp"
#include "runtime/training/buckets.hpp"

#include <span>

namespace ddlrun::runtime {

// One candidate a schedule. Between turns no reduction may be in flight.
ddl::Trials make_schedule_trials(std::span<const ReduceSchedule> schedules);

}  // namespace ddlrun::runtime
