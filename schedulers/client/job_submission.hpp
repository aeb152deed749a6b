// SPDX-License-Identifier: MIT
// Submits a job that was read: its directory, its script, the hand-over, a line
// in the user's own history.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_ref.hpp"
#include "schedulers/client/job_request.hpp"
#include "schedulers/job/scheduler.hpp"

#include <chrono>
#include <string>

namespace ddlrun::schedulers {

struct PreparedJob {
  JobDirectory dir;
  std::string script;                 // text of job.sh
  Command submit;                     // with the variables left out that would override the script
  std::vector<std::string> left_out;  // their names
};

// The script for that directory (find_job_dir()); nothing is written.
PreparedJob prepare_job(System& system, const JobRequest& wanted, const Scheduler& scheduler,
                        const std::string& dir);

// Makes the directory (with -2, -3 behind the name if it is taken, and renders for it), writes job.sh and
// ddlrun.yaml, submits, remembers. Error{scheduler} or Error{unreachable}; then the directory is kept, as
// what was refused.
JobRef submit_job(System& system, const JobRequest& wanted, const Scheduler& scheduler, PreparedJob prepared);

}  // namespace ddlrun::schedulers
