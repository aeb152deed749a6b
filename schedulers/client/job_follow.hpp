// SPDX-License-Identifier: MIT
// Staying with jobs until they end: the log goes to stdout as it grows, what happens to the job to stderr,
// and the end with its reason. The scheduler is queried seldom, the job's files, which cost it nothing,
// often.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_query.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ddlrun::schedulers {

struct FollowOptions {
  bool log = true;         // copy the log of the one job
  bool from_start = true;  // of the log
  bool print_states = true;
  bool explain = true;  // the end, and its cause from the log
  // Further logs of the job, which are not there from the start: called again and again.
  std::function<std::vector<std::string>(System&)> find_more_logs = {};
};

// The exit status of the job; of several the first one, in their order, that is not 0. A signal leaves the
// jobs alone: 128 + its number.
int follow_jobs(System& system, const std::vector<JobRef>& jobs, const FollowOptions& options);

// Waits until the scheduler gives its first reason, at most 5 s. A job that can never run is explained: 4,
// and it stays in the queue. Any other job: 0.
int check_new_job(System& system, const JobRef& job);

}  // namespace ddlrun::schedulers
