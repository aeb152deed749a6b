// SPDX-License-Identifier: MIT
// Places the ranks of a launch on cores: from DIMS, -H, TensorFlow's tasks, or the user's rankfile.
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/plan/launch_spec.hpp"

#include <optional>

namespace ddlrun::launch {

// The dims of the plan; with a rankfile or tasks those that are typed.
std::optional<topology::Dims> known_job_dims(const JobShape& shape, const JobPlan& job);

// Reaches the hosts by `path`. Plans the job, or takes --rankfile, and checks the text. Findings go to
// system.err. Error{request} for a faulty rankfile or an assumed machine; Error{unreachable} for silent
// hosts.
JobPlan plan_job_ranks(System& system, const LaunchSpec& spec, int mpi_major,
                       topology::HostPath path = topology::HostPath::automatic);

}  // namespace ddlrun::launch
