// SPDX-License-Identifier: MIT
// From a job that was read to one that the scheduler knows: its folder, its script, the hand-over, a line in
// the user's own history.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_ref.hpp"
#include "schedulers/client/job_request.hpp"
#include "schedulers/job/scheduler.hpp"

#include <chrono>
#include <string>

namespace ddlrun::schedulers {

struct PreparedJob {
  JobFolder folder;
  std::string script;                 // text of job.sh
  Command submit;                     // with the variables left out that would override the script
  std::vector<std::string> left_out;  // their names
};

// The script for that folder; nothing is written.
PreparedJob prepare_job(System& system, const JobRequest& wanted, const Scheduler& scheduler,
                        const std::string& folder);

// Makes the folder (with -2, -3 behind the name if it is taken), writes job.sh and ddlrun.yaml, submits,
// remembers. Error{scheduler} or Error{unreachable}; then the folder is kept, as what was refused.
JobRef submit_job(System& system, const JobRequest& wanted, const Scheduler& scheduler);

}  // namespace ddlrun::schedulers
