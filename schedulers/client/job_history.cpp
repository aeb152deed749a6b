// SPDX-License-Identifier: MIT
#include "schedulers/client/job_history.hpp"

#include "base/os/state_directory.hpp"
#include "base/os/unix_time.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/history.hpp"
#include "schedulers/client/job_directory.hpp"
#include "schedulers/client/scheduler_access.hpp"
#include "schedulers/client/submitted_job.hpp"
#include "schedulers/job/job_settings.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <functional>

namespace ddlrun::schedulers {

namespace {

// The history is a convenience: an entry that cannot be written is reported, and the job goes on.
void with_history(System& system, bool make, const std::function<void(JobHistory& history)>& use) {
  try {
    const std::string dir = find_own_state_directory(system, "the history of jobs", "export HOME");
    const std::string path = dir + "/jobs.sqlite";
    if (!make && !system.files.exists(path)) return;
    if (make) system.files.make_directories(dir);
    use(*open_job_history(path));
  } catch (const Error& error) {
    system.err(render_message("ddlrun", "warning", error.message()));
  }
}

// Its queue, and where its log is, by the settings that were written beside the script.
void add_settings(System& system, JobRef& job) {
  const std::string file = job.dir + "/ddlrun.yaml";
  JobSpec spec;
  try {
    std::vector<Message> errors;
    const auto settings = read_job_settings(system.files.read(file, max_settings_bytes), file, errors);
    const auto text = [&](const std::string& key) {
      const auto found = settings.find(key);
      return found == settings.end() ? std::string() : found->second.value.text;
    };
    if (settings.count("array") > 0) spec.array.emplace();
    spec.output = text("output");
    spec.workdir = text("workdir");
    job.queue = text("queue");
  } catch (const Error&) {
    spec.output.clear();  // the directory is gone, or was made by hand
  }
  if (has_known_log(system, job)) job.output = log_of(spec, job.files(), job.id, job.task);
}

JobRef known_job(System& system, const JobEntry& entry, const std::string& task) {
  JobRef job;
  job.id = entry.id;
  job.scheduler = parse_scheduler(entry.scheduler);
  job.name = entry.name;
  job.dir = entry.dir;
  job.task = task;
  add_settings(system, job);
  if (!entry.queue.empty()) job.queue = entry.queue;
  if (task.empty()) {
    job.last.state = entry.state;
    job.last.exit_status = entry.exit_status;
    job.last.hosts = entry.hosts;
    job.last.run_seconds = entry.run_seconds;
    job.last.explained = entry.cause;
  }
  job.last.id = entry.id;
  job.submitted =
      fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(entry.submitted_at)));
  return job;
}

}  // namespace

void remember_job(System& system, const JobRef& job) {
  JobEntry entry;
  entry.id = job.id;
  entry.scheduler = name_of(job.scheduler);
  entry.name = job.name;
  entry.dir = job.dir;
  entry.submitted_at = unix_seconds(system);
  with_history(system, true, [&](JobHistory& history) { history.add(entry); });
}

void remember_state(System& system, const JobRef& job, const JobStatus& status) {
  if (!job.submitted_here() || status.state == JobState::unknown) return;
  with_history(system, false, [&](JobHistory& history) { history.update(status, unix_seconds(system)); });
}

void remember_cause(System& system, const JobRef& job, const std::string& cause, std::optional<int> status) {
  if (!job.submitted_here() || !job.task.empty() || cause.empty()) return;
  with_history(system, false, [&](JobHistory& history) { history.note_end(job.id, cause, status); });
}

std::vector<JobRef> remembered_by_number(System& system, const std::string& number, const std::string& task) {
  std::vector<JobRef> jobs;
  with_history(system, false, [&](JobHistory& history) {
    for (const JobEntry& entry : history.find_short(number)) jobs.push_back(known_job(system, entry, task));
  });
  return jobs;
}

std::optional<JobRef> remembered_job(System& system, const JobId& id, const std::string& task) {
  std::optional<JobRef> job;
  with_history(system, false, [&](JobHistory& history) {
    const auto entry = history.find(id);
    if (entry) job = known_job(system, *entry, task);
  });
  return job;
}

std::vector<std::pair<JobRef, JobStatus>> remembered_jobs(System& system, std::size_t most) {
  std::vector<std::pair<JobRef, JobStatus>> jobs;
  with_history(system, false, [&](JobHistory& history) {
    for (const JobEntry& entry : history.recent(most)) {
      JobRef job = known_job(system, entry, "");
      JobStatus status = job.last;
      jobs.emplace_back(std::move(job), std::move(status));
    }
  });
  return jobs;
}

std::size_t forget_jobs(System& system, std::int64_t age) {
  std::size_t forgotten = 0;
  with_history(system, false,
               [&](JobHistory& history) { forgotten = history.forget_before(unix_seconds(system) - age); });
  return forgotten;
}

}  // namespace ddlrun::schedulers
