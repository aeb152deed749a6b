// SPDX-License-Identifier: MIT
// From what a user types, a job's id or nothing, to the job: which scheduler has it, where its files are, how
// it stands. One question to the scheduler for all jobs; where it has forgotten one, the job's own
// exit_status file is the truth.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "schedulers/client/job_ref.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::schedulers {

// The jobs of these ids, in order; `last`: the newest of the history. Jobs that the history lacks are read
// from this machine's scheduler. A PBS id may lack its server: Error{usage} where several jobs are meant,
// Error{request} for `last` without jobs.
std::vector<JobRef> find_jobs(System& system, const std::vector<std::string>& ids,
                              std::optional<SchedulerKind> here = {});
// The job of the history with this id, or its newest job for `last` (`last_1`: its task 1); nothing where
// there is none.
// Error{usage} as find_jobs().
std::optional<JobRef> find_remembered_job(System& system, const std::string& id);

// The jobs that the history lacks, as jobs of this machine's scheduler; without ids that it cannot have given, and
// empty where no scheduler is.
std::vector<JobRef> find_foreign_jobs(System& system, const std::vector<std::string>& ids);

// The name and the logs of a job that the history lacks, as this machine's scheduler has them; its state in
// `last`. Error{unreachable} if the scheduler does not answer.
void read_foreign_job(System& system, JobRef& job);

// Whether pbsnodes is asked if a job waits: its list of a large cluster is some 10 MB.
enum class NodeList { asked, left_out };
// Schedulers that do not answer, each with its error.
using UnreachableSchedulers = std::map<SchedulerKind, Error>;

// Those of the history, newest first, as they stand: one question for the `most_asked` newest that were not
// over when somebody last asked; the others as last seen.
std::vector<std::pair<JobRef, JobStatus>> read_recent_jobs(System& system, std::size_t most,
                                                           std::size_t most_asked,
                                                           UnreachableSchedulers& unreachable);

// The job in which this one goes on, remembered from now on; nothing where there is none.
std::optional<JobRef> read_next_job(System& system, const JobRef& job);

// How they stand, in the order of `jobs`. Error{unreachable} if the scheduler does not answer.
std::vector<JobStatus> read_job_states(System& system, const std::vector<JobRef>& jobs,
                                       NodeList nodes = NodeList::asked);
// The same, but jobs of an unreachable scheduler have the state of their own files, else the last seen.
std::vector<JobStatus> read_job_states(System& system, const std::vector<JobRef>& jobs,
                                       UnreachableSchedulers& unreachable, NodeList nodes = NodeList::asked);
// Prints a warning for each on stderr.
void warn_of_unreachable(System& system, const UnreachableSchedulers& unreachable);

}  // namespace ddlrun::schedulers
