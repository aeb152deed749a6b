// SPDX-License-Identifier: MIT
// What the directory of a submitted job holds: its settings, exit status, and where its log is.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "schedulers/client/job_ref.hpp"
#include "schedulers/job/job_settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::schedulers {

// The settings of the job as it was submitted; none where they are unknown.
JobSettings submitted_settings(System& system, const JobRef& job);
// The text of one of them ("signal" -> "USR1@120"); "" where it had none, or it is unknown.
std::string submitted_setting(System& system, const JobRef& job, const std::string& key);
// The indices of an array's tasks, by its settings; none where it is no array, or it is unknown.
std::vector<std::uint64_t> submitted_tasks(System& system, const JobRef& job);
// "20" and 1 -> "20_1", "3[].server" -> "3[1].server".
std::string task_id(const JobRef& job, std::uint64_t index);
// "15_3" -> 15 and 3, "3[0].server" -> 3[].server and 0; no task otherwise.
struct IdParts {
  std::string job, task;
};
IdParts parts_of(const std::string& id);

// What the job's script wrote when it ended; nothing while it has not.
std::optional<int> read_exit_status(System& system, const JobRef& job);

// Where PBS leaves what reached the job's own stdout, which its script does not use: words of pbs_mom, and
// the output of tasks that pbsdsh starts. It comes when the job ends. "" for other schedulers, and of an
// array as a whole.
std::string spool_log(System& system, const JobRef& job);

// Whether its own files prove that the job was ended at its walltime: a file of the script without a
// scheduler, the line of pbs_mom for PBS.
bool was_timed_out(System& system, const JobRef& job);

// Whether the log ends with the word of `ddlrun launch` that the program has ended well: a signal has not
// stopped it.
bool launch_ended_well(System& system, const std::string& log);

// The state of a job whose script has written its exit status, if the scheduler has no state.
JobStatus status_of_written(const JobRef& job, int written, bool timed_out);

// Whether the log of that job is where ddlrun looks for it; it is where ddlrun itself wrote the script.
bool has_known_log(System& system, const JobRef& job);
// Why job.output is empty; `command` is that which wants the log.
Message why_no_log(System& system, const JobRef& job, const std::string& command);

}  // namespace ddlrun::schedulers
