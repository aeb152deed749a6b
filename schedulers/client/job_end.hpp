// SPDX-License-Identifier: MIT
// The ends of a submitted job and of its tasks, as they were first seen: end.json in the job's directory. A
// scheduler forgets a job after minutes, and the status that its script wrote does not show a time limit, a
// lost host or a cancellation.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_ref.hpp"

#include <map>
#include <string>
#include <string_view>

namespace ddlrun::schedulers {

using JobEnds = std::map<JobId, JobStatus>;

// Those of the job's directory; none where nothing is recorded, or the file cannot be read.
JobEnds read_job_ends(System& system, const JobRef& job);
// Writes them; a directory that is gone or belongs to another user is left as it is.
void write_job_ends(System& system, const JobRef& job, const JobEnds& ends);
// Adds one end to those of the directory.
void record_job_end(System& system, const JobRef& job, const JobStatus& status);

// The answer of the scheduler, with the ends that were seen earlier and those that its script proves: such an
// end stays. New ends that exit_status cannot show are recorded; that of a job which runs again is forgotten.
JobStatus keep_ends(System& system, const JobRef& job, JobEnds ends, JobStatus answer);

std::string render_job_ends(const JobEnds& ends);  // schema "ddlrun.end/1"
JobEnds parse_job_ends(std::string_view text);     // none of a text that is damaged

}  // namespace ddlrun::schedulers
