// SPDX-License-Identifier: MIT
// The user's own jobs, in jobs.sqlite of the state directory: what was submitted, from where, and how it
// stood when somebody last asked. It is a convenience: where it cannot be kept, submitting goes on with a
// warning.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_ref.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::schedulers {

void remember_job(System& system, const JobRef& job);
// With the last state where that is new.
void remember_state(System& system, const JobRef& job, const JobStatus& status);
// Why it ended badly, and the status of the rank that did, where that is not the job's.
void remember_cause(System& system, const JobRef& job, const std::string& cause, std::optional<int> status);
// Jobs of PBS by the part of their ids before the server.
std::vector<JobRef> remembered_by_number(System& system, const std::string& number, const std::string& task);
std::optional<JobRef> remembered_job(System& system, const JobId& id,
                                     const std::string& task = "");  // of an array
// Forgets jobs that were submitted more than `age` seconds ago and are over; those whose end was never seen
// 30 days later. Their files stay. Returns how many.
std::size_t forget_jobs(System& system, std::int64_t age);
// Newest first, each with its last known state.
std::vector<std::pair<JobRef, JobStatus>> remembered_jobs(System& system, std::size_t most);

}  // namespace ddlrun::schedulers
