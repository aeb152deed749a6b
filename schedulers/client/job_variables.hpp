// SPDX-License-Identifier: MIT
// The names of `environment`, and the shell in which the job is handed in.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_request.hpp"

namespace ddlrun::schedulers {

// Names what NCCL_* means here, for PBS, and finds names that have no value here. Such a name is an error, in
// a dry run a warning, unless the job itself may set it: by setup, modules, conda, venv, the site's lines or
// a template. A wildcard without a match is a warning.
void resolve_variables(const Environment& environment, bool dry_run, JobRequest& wanted);

}  // namespace ddlrun::schedulers
