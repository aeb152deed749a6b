// SPDX-License-Identifier: MIT
// Jobs without dims: what TensorFlow's tasks, and counts that differ by host, give each host.
#pragma once

#include "launch/plan/job_plan.hpp"
#include "launch/plan/launch_spec.hpp"

#include <vector>

namespace ddlrun::launch {

// --ps and --workers. Fills rankfile, ranks and bindings; Error{request} where they do not fit.
void plan_task_bindings(const LaunchSpec& spec, JobPlan& job, int mpi_major);

// -H with different counts: the same. Error{usage} for --order ddl.
void plan_uneven_bindings(const LaunchSpec& spec, JobPlan& job, int mpi_major);

}  // namespace ddlrun::launch
