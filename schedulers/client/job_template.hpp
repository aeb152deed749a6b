// SPDX-License-Identifier: MIT
// A job script of the user's own with placeholders, instead of ours: found, read, and held against what the
// job says.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_request.hpp"
#include "schedulers/job/scheduler.hpp"

#include <string>

namespace ddlrun::schedulers {

// A path in a file is taken from that file's directory, one on the command line from the current directory. A
// name without a file there is one of the templates of the user or the centre.
void find_template(System& system, const templates::SiteProfile& site, JobSettings& settings);

// Reads it, if the job has one; everything that is wrong with it goes to reading.errors, what is only a
// pity to reading.remarks. For a job without errors. Error{request} if it cannot be read.
void read_template(System& system, JobRequest& wanted);

// The script for that directory.
std::string fill_job_template(const JobRequest& wanted, const JobDirectory& dir);

}  // namespace ddlrun::schedulers
