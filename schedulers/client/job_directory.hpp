// SPDX-License-Identifier: MIT
// The directory of a job's files, and the paths in it.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/job/scheduler.hpp"

#include <string>

namespace ddlrun::schedulers {

// NAME-YYYYMMDD-HHMMSS below WORKDIR/ddlrun-jobs, by UTC. The log's path stands in a directive, which
// takes no blanks: a job of a working directory that has some is kept in the state directory, and so is one
// whose ddlrun-jobs belongs to somebody else. Error{request} where neither fits.
std::string find_job_dir(System& system, const JobSpec& job);

// Where the log of the job, or of a task of an array, is; "" for an array as a whole. "%j" in a name of the
// user's own is the job's id.
std::string log_of(const JobSpec& job, const JobDirectory& dir, const JobId& id,
                   const std::string& task = "");

// The template as it was, beside the script that came of it; of a job that was submitted with one.
std::string kept_template(const JobDirectory& dir);

}  // namespace ddlrun::schedulers
