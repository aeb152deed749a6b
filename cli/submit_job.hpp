// SPDX-License-Identifier: MIT
// One submission: read, check, write the script, submit it, follow it to its end.
#pragma once

#include "schedulers/client/job_options.hpp"

namespace ddlrun::cli {

// The exit status: the job's own; with `detach` 0, or 4 for a job that can never run.
int submit_job(System& system, const schedulers::JobOptions& options, bool detach);

}  // namespace ddlrun::cli
