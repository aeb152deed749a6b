// SPDX-License-Identifier: MIT
// How a job stands or ended, in words: its status explained, and the cause from its log if it failed.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "schedulers/client/job_ref.hpp"

#include <string>

namespace ddlrun::schedulers {

// The exit status for a shell: 0, the job's own status, 124 for a time limit, 143 for cancelled, 137 for
// memory, 5 for a lost host, 3 if unknown, 4 for one that can never run.
int exit_status_of(const JobStatus& status);

// A job that neither the scheduler nor its own files have: Error{request}.
Error unknown_job_error(const JobRef& job, const JobStatus& status);

// "queued, Resources: ...", "running on node[1-2]"
std::string render_state(const JobStatus& status);

// "job 12 (train) failed with exit status 139: ...", then `log`, then a line for each task that did not
// complete; `first` is the rank that failed first and why, if that is known.
std::string render_end(const JobRef& job, const JobStatus& status, const std::string& first,
                       const std::string& log = "");

// "was cancelled: terminated by ddl@node1", "lost a host: ..."
std::string render_scheduler_end(const JobStatus& status);

// The task whose log is of interest: the first that failed, else the first; "" without tasks.
JobId telling_task(const std::vector<JobStatus>& tasks);

// Its script is over; the scheduler still ends processes, or waits for a host that is lost.
bool is_ending(const JobStatus& status);

// A job without a log: it never started, and why; it is over; or how it stands.
Message no_output(System& system, const JobRef& job, const JobStatus& status);

// The end on stderr, with the diagnosis of the log where it ended badly and the log does not hold one. What
// the log contains is put into `status` and stored.
void print_outcome(System& system, const JobRef& job, JobStatus& status);

}  // namespace ddlrun::schedulers
