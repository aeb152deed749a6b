// SPDX-License-Identifier: MIT
// The jobs that a new one waits for. Slurm takes such a job that it has forgotten for one that ended as
// asked, and starts the new one at once; PBS removes the new one.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_options.hpp"
#include "schedulers/client/job_ref.hpp"

#include <optional>

namespace ddlrun::schedulers {

// "afterok:last" becomes "afterok:24", with a remark, also in the settings that are kept: the newest job is
// another one later. Error{request} where there is none, or another scheduler has it.
void name_newest(System& system, JobRequest& wanted);
void name_newest(JobRequest& wanted, const std::optional<JobRef>& newest);

// For PBS: "afterok:24" becomes "afterok:24[]" where 24 is an array, with a remark. Error{request} for a task
// of an array.
void name_arrays(System& system, JobRequest& wanted);

// Error{request} for a dependency that can no longer come true, and for a job that the scheduler does not
// have (Slurm: nor the user's history). If the scheduler does not answer, only the history is read.
void check_dependencies(System& system, const JobRequest& wanted);

}  // namespace ddlrun::schedulers
