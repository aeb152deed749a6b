// SPDX-License-Identifier: MIT
// From a job that was read to one that the scheduler knows: its folder, its script, the hand-over, a line in
// the user's own history.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_options.hpp"
#include "schedulers/client/job_query.hpp"
#include "schedulers/job/scheduler.hpp"

#include <chrono>
#include <string>

namespace ddlrun::cli {

// NAME-YYYYMMDD-HHMMSS below WORKING_FOLDER/ddlrun-jobs, by UTC. The log's path stands in a directive, which
// takes no blanks: a job of a working folder that has some is kept in the state folder, whatever the
// scheduler.
std::string find_job_folder(System& system, const schedulers::JobSpec& job);

struct PreparedJob {
  schedulers::JobFolder folder;
  std::string script;                 // text of job.sh
  Command submit;                     // with the variables left out that would override the script
  std::vector<std::string> left_out;  // their names
};

// The script for that folder; nothing is written.
PreparedJob prepare_job(System& system, const JobRequest& wanted, const schedulers::Scheduler& scheduler,
                        const std::string& folder);

// Where the log of the job, or of a task of an array, is; "" for an array as a whole. "%j" in a name of the
// user's own is the job's id.
std::string log_of(const schedulers::JobSpec& job, const schedulers::JobFolder& folder,
                   const schedulers::JobId& id, const std::string& task = "");

// Makes the folder (with -2, -3 behind the name if it is taken), writes job.sh and ddlrun.yaml, submits,
// remembers. Error{scheduler} or Error{unreachable}; then the folder is kept, as what was refused.
JobRef submit_job(System& system, const JobRequest& wanted, const schedulers::Scheduler& scheduler);

}  // namespace ddlrun::cli
