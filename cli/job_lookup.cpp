// SPDX-License-Identifier: MIT
#include "cli/job_lookup.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/job_end.hpp"
#include "cli/job_history.hpp"
#include "cli/job_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddlrun::cli {

namespace {

using schedulers::JobId;
using schedulers::JobState;
using schedulers::JobStatus;
using schedulers::SchedulerKind;

constexpr std::chrono::seconds patience{60};
constexpr std::size_t max_id_bytes = 200;

// An id goes to a scheduler's command as a word: nothing that could be an option or more than one word.
void check_id(const std::string& id) {
  const bool odd = id.empty() || id.size() > max_id_bytes ||
                   id.find_first_not_of(
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                       "_.[]-;:+@") != std::string::npos;
  if (!odd && id[0] >= '0' && id[0] <= '9') return;
  throw Error(ErrorKind::usage, {fmt::format("'{}' is no job's id", printable(id, 60)), "",
                                 "the number that ddlrun submit printed; ddlrun jobs lists yours"});
}

// "15_3" -> 15 and 3, "3[0].server" -> 3[].server and 0; no task otherwise.
struct IdParts {
  std::string job, task;
};
IdParts parts_of(const std::string& id) {
  const std::size_t at = id.find_first_of("_[");
  if (at == std::string::npos) return {id, ""};
  if (id[at] == '_') return {id.substr(0, at), id.substr(at + 1)};
  const std::size_t close = id.find(']', at);
  if (close == std::string::npos) return {id, ""};
  return {id.substr(0, at) + "[]" + id.substr(close + 1), id.substr(at + 1, close - at - 1)};
}

std::optional<KnownJob> find_remembered(System& system, const std::string& id) {
  auto known = remembered_job(system, id);
  const IdParts parts = parts_of(id);
  if (known || parts.task.empty() || !parse_unsigned(parts.task)) return known;
  known = remembered_job(system, parts.job, parts.task);
  if (known) known->id = id;
  return known;
}

}  // namespace

schedulers::Ask asker(System& system) {
  return [&system](const Command& command) {
    ProcessLimits limits;
    limits.timeout = patience;
    return system.processes.run(command, limits);
  };
}

std::vector<KnownJob> find_jobs(System& system, const std::vector<std::string>& ids) {
  std::vector<KnownJob> jobs;
  std::optional<SchedulerKind> here;
  for (const std::string& id : ids) {
    check_id(id);
    auto known = find_remembered(system, id);
    if (!known) {
      if (!here) here = find_scheduler(system);
      known.emplace();
      known->id = id;
      known->scheduler = *here;
    }
    jobs.push_back(std::move(*known));
  }
  return jobs;
}

std::optional<int> read_exit_status(System& system, const KnownJob& job) {
  if (!job.ours()) return std::nullopt;
  try {
    const auto part =
        system.files.read_from(job.files().exit_status() + (job.task.empty() ? "" : "." + job.task), 0, 64);
    if (!part) return std::nullopt;
    const auto number = parse_unsigned(trim(part->bytes), 255);
    return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // not ours to read: the scheduler tells
  }
}

std::optional<KnownJob> read_next_job(System& system, const KnownJob& job) {
  if (!job.ours()) return std::nullopt;
  std::optional<FilePart> part;
  try {
    part = system.files.read_from(job.folder + "/next_job", 0, max_id_bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (!part) return std::nullopt;
  KnownJob next = job;
  next.id = trim(part->bytes);
  if (next.id.empty() || next.id == job.id) return std::nullopt;
  check_id(next.id);
  if (!remembered_job(system, next.id)) remember_job(system, next);
  return next;
}

std::vector<JobStatus> read_job_states(System& system, const std::vector<KnownJob>& jobs) {
  std::map<SchedulerKind, std::vector<JobId>> asked;
  for (const KnownJob& job : jobs) asked[job.scheduler].push_back(job.id);
  std::map<std::pair<SchedulerKind, JobId>, JobStatus> answers;
  for (const auto& [kind, ids] : asked) {
    for (auto& [id, status] : schedulers::make_scheduler(kind)->read_states(ids, asker(system))) {
      answers.insert_or_assign({kind, id}, std::move(status));
    }
  }
  std::vector<JobStatus> states;
  for (const KnownJob& job : jobs) {
    JobStatus status = answers[{job.scheduler, job.id}];
    status.id = job.id;
    if (status.state == JobState::unknown) {
      const auto written = read_exit_status(system, job);
      if (written) status = status_of_written(job, *written);
    }
    remember_state(system, job, status);
    states.push_back(std::move(status));
  }
  return states;
}

}  // namespace ddlrun::cli
