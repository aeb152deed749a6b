// SPDX-License-Identifier: MIT
// The jobs that a new one waits for: a scheduler that has forgotten such a job takes it for one that ended as
// asked, and starts the new one at once.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_options.hpp"

namespace ddlrun::schedulers {

// Error{request} for a dependency that can no longer come true, and for a job that neither Slurm nor the
// user's history has. If the scheduler does not answer, only the history is read.
void check_dependencies(System& system, const JobRequest& wanted);

}  // namespace ddlrun::schedulers
