// SPDX-License-Identifier: MIT
// One's own jobs, remembered in one file, so that `ddlrun status` without an id can show them.
#pragma once

#include "schedulers/job/job_state.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::schedulers {

struct JobEntry {
  JobId id;
  std::string scheduler;  // "slurm"
  std::string name;
  std::string dir;                // the job's, absolute
  std::int64_t submitted_at = 0;  // seconds since 1970
  std::string script_hash;
  JobState state = JobState::queued;  // the last that was seen
  std::optional<int> exit_status;
  std::optional<std::int64_t> ended_at;      // when its end was first seen
  std::string hosts;                         // as the scheduler listed them
  std::optional<std::uint64_t> run_seconds;  // in all, once it is over
  std::string cause;  // of a bad end, from its log; of a cancelled job, why, as its scheduler has it
  std::string queue;  // as the scheduler reported it last

  bool operator==(const JobEntry&) const = default;
};

class JobHistory {
 public:
  virtual ~JobHistory() = default;
  virtual void add(const JobEntry& entry) = 0;
  // Of the newest job with this id; a job that was over stays so. False where there is none. A cancelled job
  // leaves no other cause than its scheduler's.
  virtual bool update(const JobStatus& status, std::int64_t now) = 0;
  // What was found out about the end of the newest job with this id, after it had ended.
  virtual void note_end(const JobId& id, const std::string& cause, std::optional<int> exit_status) = 0;
  // Removes those that were submitted before `time` and are over; the others 30 days later. How many.
  virtual std::size_t forget_before(std::int64_t time) = 0;
  virtual std::vector<JobEntry> recent(std::size_t most) = 0;  // the newest first
  // The newest with this id, as schedulers count anew now and then.
  virtual std::optional<JobEntry> find(const JobId& id) = 0;
  // "77" -> 77.pbs01, 77[].pbs01: the newest of each id whose part before the dot this is.
  virtual std::vector<JobEntry> find_short(const std::string& number) = 0;
};

// The file at `path`, made where there is none; its directory must be there. Two processes may have it open
// at once. Error{request} where it cannot be read or written, is damaged, or comes from a newer ddlrun; it is
// never removed or overwritten then.
std::unique_ptr<JobHistory> open_job_history(const std::string& path);

}  // namespace ddlrun::schedulers
