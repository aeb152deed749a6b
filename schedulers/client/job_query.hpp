// SPDX-License-Identifier: MIT
// From what a user types, a job's id or nothing, to the job: which scheduler has it, where its files are, how
// it stands. One question to the scheduler for all jobs; where it has forgotten one, the job's own
// exit_status file is the truth.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "schedulers/job/scheduler.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::cli {

struct JobRef {
  schedulers::JobId id;
  schedulers::SchedulerKind scheduler = schedulers::SchedulerKind::local;
  std::string name;            // "": not submitted by this user's ddlrun
  std::string folder;          // likewise
  std::string task;            // its index, of one task of an array
  std::string output;          // its log; "" of an array as a whole
  std::string queue;           // as it was asked for; "" where nothing was said
  std::string submitted;       // "2026-11-02 10:20:30"
  schedulers::JobStatus last;  // as the history has it; `explained` is the cause of a bad end
  bool ours() const { return !folder.empty(); }
  schedulers::JobFolder files() const { return {folder}; }
};

// A question to a scheduler's command: 60 s at most.
schedulers::CommandRunner asker(System& system);

// The jobs of these ids, in order; what the history does not know is asked of this machine's scheduler. A PBS
// id may lack its server: Error{usage} where several jobs are meant.
std::vector<JobRef> find_jobs(System& system, const std::vector<std::string>& ids,
                              std::optional<schedulers::SchedulerKind> here = {});
// Schedulers that do not answer, and what they say instead.
using SilentSchedulers = std::map<schedulers::SchedulerKind, Error>;

// Those of the history, newest first, as they stand: one question for the `most_asked` newest that were not
// over when somebody last asked; the others as last seen.
std::vector<std::pair<JobRef, schedulers::JobStatus>> read_recent_jobs(System& system, std::size_t most,
                                                                       std::size_t most_asked,
                                                                       SilentSchedulers& silent);

// A setting of the job as it was submitted ("signal" -> "USR1@120"); "" where it had none, or nobody knows.
std::string submitted_setting(System& system, const JobRef& job, const std::string& key);
// The indices of an array's tasks, by its settings; none where it is no array, or nobody knows.
std::vector<std::uint64_t> submitted_tasks(System& system, const JobRef& job);
// "20" and 1 -> "20_1", "3[].server" -> "3[1].server".
std::string task_id(const JobRef& job, std::uint64_t index);

// What the job's script wrote when it ended; nothing while it has not.
std::optional<int> read_exit_status(System& system, const JobRef& job);

// Whether the script of a job without scheduler ended it at its walltime.
bool was_timed_out(System& system, const JobRef& job);

// The job in which this one goes on, remembered from now on; nothing where there is none.
std::optional<JobRef> read_next_job(System& system, const JobRef& job);

// How they stand, in the order of `jobs`. Error{unreachable} if the scheduler does not answer.
std::vector<schedulers::JobStatus> read_job_states(System& system, const std::vector<JobRef>& jobs);
// The same, but jobs of a silent scheduler stand as their own files tell, else as last seen.
std::vector<schedulers::JobStatus> read_job_states(System& system, const std::vector<JobRef>& jobs,
                                                   SilentSchedulers& silent);
// To be told on stderr.
void warn_of_silent(System& system, const SilentSchedulers& silent);

}  // namespace ddlrun::cli
