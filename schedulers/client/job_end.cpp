// SPDX-License-Identifier: MIT
#include "schedulers/client/job_end.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_history.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/submitted_job.hpp"

#include <algorithm>
#include <utility>

namespace ddlrun::schedulers {

namespace {

constexpr std::uint64_t max_script_bytes = 1u << 20;
constexpr std::uint64_t max_end_bytes = 16u << 20;  // of an array with thousands of cancelled tasks

std::string end_file(const JobRef& job) { return job.dir + "/end.json"; }

// The status that its script wrote gives the same end, now and later.
bool is_told_by_script(const JobStatus& end, std::optional<int> written) {
  if (end.state == JobState::completed) return !end.at_limit && written == 0;
  return end.state == JobState::failed && written && written == end.exit_status;
}

// The lines of `setup` or of the site have a trap, which runs after the program: the limit may have cut it.
bool has_own_trap(System& system, const JobRef& job) {
  try {
    const std::string script = system.files.read(job.dir + "/job.sh", max_script_bytes);
    for (const std::string_view line : split(script, '\n')) {
      const std::string_view text = trim(line);
      if (text.starts_with("trap ") && !text.starts_with("trap ddl_")) return true;
    }
    return false;
  } catch (const Error&) {
    return false;
  }
}

// A program that had ended as its time limit came has done its work.
bool correct_limit(System& system, const JobRef& job, std::optional<int> written, JobStatus& status) {
  if (status.state != JobState::timed_out || written != 0) return false;
  const auto part =
      job.task.empty() ? std::optional(job) : remembered_job(system, parts_of(job.id).job, job.task);
  const bool ended_well = part && launch_ended_well(system, part->output);
  if (!ended_well || has_own_trap(system, job)) {
    status.explained =
        ended_well
            ? "its program had ended with status 0 when its time limit came, and a trap of the job may not"
            : "its program ended with status 0 when its time limit came; its log shows how far it was";
    status.reason.clear();
    return true;
  }
  status.state = JobState::completed;
  status.exit_status = 0;
  status.signal = 0;
  status.at_limit = true;
  status.reason.clear();
  status.explained =
      "its program had ended with status 0, all its work done, when its time limit came; the scheduler "
      "reports a time limit";
  return true;
}

// The job ran again between two queries: the scheduler's answer replaces the end of the earlier run.
bool is_of_later_run(const JobStatus& status, const JobStatus& seen, std::optional<int> written) {
  return status.restarts > seen.restarts ||
         (status.state == JobState::completed && written == 0 && !seen.at_limit);
}

// PBS has no record of the task, and nothing that it wrote is seen here yet.
bool is_guess(const JobRef& part, const JobStatus& status) {
  return !part.task.empty() && status.state == JobState::cancelled &&
         status.explained == deleted_while_queued;
}

struct Kept {
  bool of_ends = false, of_status = false;  // changed
};

// How the job, or one task, stands with the end that was seen earlier.
Kept keep_end(System& system, const JobRef& job, JobEnds& ends, JobStatus& status) {
  const auto seen = ends.find(status.id);
  if (!is_over(status.state)) {
    if (seen == ends.end() || is_ending(status) || status.state == JobState::unknown) return {};
    ends.erase(seen);  // its owner or an administrator started it again
    return {true, false};
  }
  if (seen == ends.end() && status.state == JobState::completed) return {};  // exit_status shows it too
  const std::optional<int> written = read_exit_status(system, job);
  if (seen != ends.end() && !is_of_later_run(status, seen->second, written)) {
    status = seen->second;
    return {false, true};
  }
  const bool was_seen = seen != ends.end();
  if (was_seen) ends.erase(seen);
  const bool corrected = correct_limit(system, job, written, status);
  if (is_told_by_script(status, written) || is_guess(job, status)) return {was_seen, corrected};
  ends.emplace(status.id, status);
  return {true, corrected};
}

}  // namespace

JobEnds read_job_ends(System& system, const JobRef& job) {
  if (!job.submitted_here()) return {};
  try {
    const auto part = system.files.read_from(end_file(job), 0, max_end_bytes);
    return part ? parse_job_ends(part->bytes) : JobEnds();
  } catch (const Error&) {
    return {};  // not readable: the scheduler and exit_status have the state
  }
}

void write_job_ends(System& system, const JobRef& job, const JobEnds& ends) {
  try {
    if (ends.empty())
      system.files.remove(end_file(job));
    else
      system.files.write(end_file(job), render_job_ends(ends));
  } catch (const Error&) {
    return;  // as with the history, the job's end is reported all the same
  }
}

void record_job_end(System& system, const JobRef& job, const JobStatus& status) {
  if (!job.submitted_here()) return;
  JobEnds ends = read_job_ends(system, job);
  if (ends.emplace(status.id, status).second) write_job_ends(system, job, ends);
}

JobStatus keep_ends(System& system, const JobRef& job, JobEnds ends, JobStatus answer) {
  if (!job.submitted_here()) return answer;
  bool changed = false, altered = false;
  const auto keep = [&](const JobRef& part, JobStatus& status) {
    const Kept kept = keep_end(system, part, ends, status);
    changed = changed || kept.of_ends;
    altered = altered || kept.of_status;
  };
  if (answer.tasks.empty()) keep(job, answer);
  for (JobStatus& task : answer.tasks) {
    JobRef part = job;
    part.id = task.id;
    part.task = parts_of(task.id).task;
    keep(part, task);
  }
  if (changed) write_job_ends(system, job, ends);
  if (!altered || answer.tasks.empty()) return answer;
  JobStatus joined = join_tasks(answer.id, answer.tasks);
  joined.word = answer.word;
  joined.may_lack_tasks = answer.may_lack_tasks;
  if (answer.may_lack_tasks) joined.explained = answer.explained;
  return joined;
}

}  // namespace ddlrun::schedulers
