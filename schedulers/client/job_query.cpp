// SPDX-License-Identifier: MIT
#include "schedulers/client/job_query.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_end.hpp"
#include "schedulers/client/job_history.hpp"
#include "schedulers/client/job_options.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/scheduler_access.hpp"
#include "schedulers/client/submitted_job.hpp"
#include "schedulers/job/job_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddlrun::schedulers {

namespace {

constexpr std::size_t max_id_bytes = 200;

// An id goes to a scheduler's command as a word: nothing that could be an option or more than one word.
bool is_plain_id(const std::string& id) {
  const bool odd = id.empty() || id.size() > max_id_bytes ||
                   id.find_first_not_of(
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                       "_.[]-;:+@") != std::string::npos;
  return !odd && id[0] >= '0' && id[0] <= '9';
}

void check_id(const std::string& id) {
  if (is_plain_id(id)) return;
  throw Error(ErrorKind::usage, {fmt::format("'{}' is not a job ID", printable(id, 60)), "",
                                 "the number that ddlrun submit printed; ddlrun jobs lists yours"});
}

std::optional<JobRef> find_remembered(System& system, const std::string& id) {
  auto known = remembered_job(system, id);
  const IdParts parts = parts_of(id);
  if (known || parts.task.empty() || !parse_unsigned(parts.task)) return known;
  known = remembered_job(system, parts.job, parts.task);
  if (known) known->id = id;
  return known;
}

// "77" of a user is 77.pbs01 of PBS, "3[1]" is 3[1].pbs01.
std::optional<JobRef> find_by_number(System& system, const std::string& id) {
  if (id.find_first_of(".@;") != std::string::npos) return std::nullopt;
  const IdParts parts = parts_of(id);
  auto found = remembered_by_number(system, parts.job, parts.task);
  if (found.size() > 1) {
    std::vector<std::string> ids;
    for (const JobRef& job : found) ids.push_back(job.id);
    throw Error(ErrorKind::usage, {fmt::format("job {} is one of {}: {}", printable(id), ids.size(),
                                               printable(join(ids, ", "), 300)),
                                   "", "the whole id: " + printable(ids.front(), 100)});
  }
  if (found.empty()) return std::nullopt;
  const auto task = parts.task.empty() ? std::nullopt : parse_unsigned(parts.task);
  if (task) found.front().id = task_id(found.front(), *task);
  return found.front();
}

// "last", "last_1", "last[1]"
bool is_newest(const std::string& id) {
  return id == "last" || (id.starts_with("last") && !parts_of(id).task.empty());
}

// The task that `word`, "last_1", means of the newest job.
JobRef find_task(System& system, const JobRef& newest, const std::string& word) {
  const auto index = parse_unsigned(parts_of(word).task);
  const auto tasks = submitted_tasks(system, newest);
  auto task = index && std::ranges::find(tasks, *index) != tasks.end()
                  ? find_remembered(system, task_id(newest, *index))
                  : std::nullopt;
  if (task) return *std::move(task);
  throw Error(ErrorKind::request, {fmt::format("job {}, the newest, has no such task", printable(newest.id)),
                                   printable(word, 60), "ddlrun status last"});
}

JobRef find_newest(System& system, const std::string& word) {
  auto newest = find_remembered_job(system, word);
  if (!newest)
    throw Error(ErrorKind::request, {"no jobs were submitted with ddlrun yet", printable(word, 60),
                                     "ddlrun history   # lists the runs of ddlrun launch, with their ids"});
  return *std::move(newest);
}

// A task that the scheduler does not have (any more): its end as it was seen, else what it wrote.
std::optional<JobStatus> forgotten_task(System& system, const JobRef& job, const JobEnds& ends,
                                        std::uint64_t index) {
  JobRef task = job;
  task.id = task_id(job, index);
  task.task = std::to_string(index);
  if (const auto end = ends.find(task.id); end != ends.end()) return end->second;
  const auto written = read_exit_status(system, task);
  return written ? std::optional(status_of_written(task, *written, false)) : std::nullopt;
}

// An array that the scheduler has forgotten as a whole, by what is recorded of its tasks and what they wrote;
// `unknown` where neither is there.
JobStatus status_of_tasks(System& system, const JobRef& job, const JobEnds& ends, const JobStatus& unknown) {
  std::vector<JobStatus> tasks;
  std::size_t unfinished = 0;
  for (const std::uint64_t index : submitted_tasks(system, job)) {
    auto task = forgotten_task(system, job, ends, index);
    unfinished += task ? 0 : 1;
    tasks.push_back(task ? *std::move(task) : JobStatus());
    tasks.back().id = task_id(job, index);
  }
  const std::size_t all = tasks.size();
  if (all == unfinished) return unknown;
  JobStatus joined = join_tasks(job.id, std::move(tasks));
  if (unfinished == 0) return joined;
  joined.explained = fmt::format("{} of its {} tasks left no exit status: cancelled, lost, or never started",
                                 unfinished, all);
  if (joined.state == JobState::completed) joined.state = JobState::unknown;
  return joined;
}

// Slurm without accounting forgets the tasks of an array one by one, those that ended first.
void add_forgotten_tasks(System& system, const JobRef& job, const JobEnds& ends, JobStatus& status) {
  if (!status.may_lack_tasks) return;
  std::vector<JobStatus> tasks = status.tasks;
  for (const std::uint64_t index : submitted_tasks(system, job)) {
    const JobId id = task_id(job, index);
    if (std::ranges::find(status.tasks, id, &JobStatus::id) != status.tasks.end()) continue;
    if (auto task = forgotten_task(system, job, ends, index)) tasks.push_back(*std::move(task));
  }
  if (tasks.size() == status.tasks.size()) return;
  std::ranges::stable_sort(tasks, {}, [](const JobStatus& task) {
    return parse_unsigned(parts_of(task.id).task).value_or(UINT64_MAX);
  });
  JobStatus joined = join_tasks(status.id, std::move(tasks));
  joined.word = status.word;
  joined.explained = status.explained;
  joined.may_lack_tasks = true;
  status = std::move(joined);
}

using Answers = std::map<std::pair<SchedulerKind, JobId>, JobStatus>;

void ask_scheduler(System& system, SchedulerKind kind, const std::vector<JobId>& ids, NodeList nodes,
                   Answers& answers, UnreachableSchedulers& unreachable) {
  const CommandRunner runner = scheduler_runner(system);
  const CommandRunner ask = [&](const Command& command) {
    return nodes == NodeList::left_out && command.front() == "pbsnodes" ? ProcessResult() : runner(command);
  };
  try {
    for (auto& [id, status] : make_scheduler(kind)->read_states(ids, ask))
      answers.insert_or_assign({kind, id}, std::move(status));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
    unreachable.emplace(kind, error);
  }
}

// A task that ran, by what it wrote: qdel of an array makes OpenPBS 23.06 forget how its tasks ended before.
// Of a task that wrote nothing, PBS has no record where it was deleted while it waited. Returns whether the
// status changed.
bool correct_task(System& system, const JobRef& task, JobStatus& status) {
  const bool has_no_end = status.state == JobState::unknown || is_ending(status);
  const bool is_lost =
      !task.task.empty() && status.hosts.empty() && (status.state == JobState::cancelled || has_no_end);
  if (!is_lost || !task.submitted_here()) return false;
  if (const auto written = read_exit_status(system, task)) {
    status = status_of_written(task, *written, false);
    return true;
  }
  const bool has_ended = is_pbs_like(task.scheduler) && (status.word == "X" || status.word == "F");
  if (!has_no_end || !has_ended) return false;
  status.state = JobState::cancelled;
  status.explained = deleted_while_queued;
  return true;
}

void correct_tasks(System& system, const JobRef& job, JobStatus& status) {
  bool corrected = false;
  for (JobStatus& task : status.tasks) {
    JobRef part = job;
    part.task = parts_of(task.id).task;
    part.id = task.id;
    corrected = correct_task(system, part, task) || corrected;
  }
  if (!corrected) return;
  const std::string word = status.word;
  status = join_tasks(status.id, std::move(status.tasks));
  status.word = word;
}

// By its recorded end, its own files, else by the history, if it is over.
JobStatus status_without_scheduler(System& system, const JobRef& job, const JobEnds& ends,
                                   const JobStatus& unknown) {
  if (const auto end = ends.find(job.id); end != ends.end()) return end->second;
  const auto written = read_exit_status(system, job);
  const bool timed_out = was_timed_out(system, job);
  // An end that no exit status shows, in a directory that could not be written to.
  const bool is_shown = job.last.state == JobState::completed || job.last.state == JobState::failed;
  if (is_over(job.last.state) && !is_shown && written.value_or(1) != 0 &&
      submitted_tasks(system, job).empty())
    return job.last;
  // A script that was killed before it ended has written none.
  if (written || timed_out) {
    JobStatus status = status_of_written(job, written.value_or(128 + 9), timed_out);
    status.hosts = job.last.hosts;
    status.run_seconds = job.last.run_seconds;
    return status;
  }
  if (!job.task.empty()) return unknown;
  const JobStatus status = status_of_tasks(system, job, ends, unknown);
  const bool remembered =
      status.state == JobState::unknown && status.tasks.empty() && is_over(job.last.state);
  return remembered ? job.last : status;
}

}  // namespace

std::optional<JobRef> find_remembered_job(System& system, const std::string& id) {
  if (is_newest(id)) {
    auto jobs = remembered_jobs(system, 1);
    if (jobs.empty()) return std::nullopt;
    return id == "last" ? std::move(jobs.front().first) : find_task(system, jobs.front().first, id);
  }
  auto known = find_remembered(system, id);
  return known ? known : find_by_number(system, id);
}

std::vector<JobRef> find_jobs(System& system, const std::vector<std::string>& ids,
                              std::optional<SchedulerKind> here) {
  std::vector<JobRef> jobs;
  for (const std::string& id : ids) {
    if (is_newest(id)) {
      jobs.push_back(find_newest(system, id));
      continue;
    }
    check_id(id);
    auto known = find_remembered_job(system, id);
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

std::vector<JobRef> find_foreign_jobs(System& system, const std::vector<std::string>& ids) {
  if (ids.empty()) return {};
  std::optional<SchedulerKind> here;
  try {
    here = find_scheduler(system);
  } catch (const Error&) {
    return {};
  }
  std::vector<JobRef> jobs;
  for (const std::string& id : ids) {
    const bool has_server = id.find('.') != std::string::npos;
    if (!is_plain_id(id) || has_server == (here == SchedulerKind::slurm) || id.find('@') != std::string::npos)
      continue;
    JobRef& job = jobs.emplace_back();
    job.id = id;
    job.scheduler = *here;
  }
  return jobs;
}

void read_foreign_job(System& system, JobRef& job) {
  job.last = make_scheduler(job.scheduler)->read_details(job.id, scheduler_runner(system));
  job.name = job.last.name;
  job.output = job.last.output;
  job.error_output = job.last.error_output;
}

std::vector<std::pair<JobRef, JobStatus>> read_recent_jobs(System& system, std::size_t most,
                                                           std::size_t most_asked,
                                                           UnreachableSchedulers& unreachable) {
  auto jobs = remembered_jobs(system, most);
  std::vector<JobRef> open;
  std::vector<JobStatus*> places;
  for (auto& [job, status] : jobs) {
    if (is_over(status.state) || open.size() == most_asked) continue;
    open.push_back(job);
    places.push_back(&status);
  }
  if (open.empty()) return jobs;
  const auto states = read_job_states(system, open, unreachable);
  for (std::size_t i = 0; i < states.size(); ++i) *places[i] = states[i];
  return jobs;
}

std::optional<JobRef> read_next_job(System& system, const JobRef& job) {
  if (!job.submitted_here()) return std::nullopt;
  std::optional<FilePart> part;
  try {
    part = system.files.read_from(job.dir + "/next_job", 0, max_id_bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (!part) return std::nullopt;
  JobRef next = job;
  next.id = trim(part->bytes);
  if (next.id.empty() || next.id == job.id) return std::nullopt;
  check_id(next.id);
  if (!remembered_job(system, next.id)) remember_job(system, next);
  return next;
}

std::vector<JobStatus> read_job_states(System& system, const std::vector<JobRef>& jobs, NodeList nodes) {
  UnreachableSchedulers unreachable;
  auto states = read_job_states(system, jobs, unreachable, nodes);
  if (!unreachable.empty()) throw Error(unreachable.begin()->second);
  return states;
}

void warn_of_unreachable(System& system, const UnreachableSchedulers& unreachable) {
  for (const auto& [kind, error] : unreachable) {
    Message message = error.message();
    message.what = fmt::format("{}: {}; its jobs are shown as last seen", name_of(kind), message.what);
    system.err(render_message("ddlrun", "warning", message));
  }
}

std::vector<JobStatus> read_job_states(System& system, const std::vector<JobRef>& jobs,
                                       UnreachableSchedulers& unreachable, NodeList nodes) {
  std::map<SchedulerKind, std::vector<JobId>> asked;
  for (const JobRef& job : jobs) asked[job.scheduler].push_back(job.id);
  Answers answers;
  for (const auto& [kind, ids] : asked) ask_scheduler(system, kind, ids, nodes, answers, unreachable);
  std::vector<JobStatus> states;
  for (const JobRef& job : jobs) {
    JobStatus status = answers[{job.scheduler, job.id}];
    const JobEnds ends = read_job_ends(system, job);
    correct_task(system, job, status);
    const bool is_answered = status.state != JobState::unknown;
    if (!is_answered) status = status_without_scheduler(system, job, ends, status);
    status.id = job.id;
    correct_tasks(system, job, status);
    if (is_answered) {
      status = keep_ends(system, job, ends, std::move(status));
      add_forgotten_tasks(system, job, ends, status);
    }
    const bool has_no_answer = unreachable.contains(job.scheduler);
    if (status.state == JobState::unknown && has_no_answer) {
      status = job.last;
      status.id = job.id;
      status.explained = "as last seen; its scheduler does not answer";
      states.push_back(std::move(status));
      continue;
    }
    if (status.may_lack_tasks && status.tasks.size() == submitted_tasks(system, job).size()) {
      status.may_lack_tasks = false;  // by the job's own settings these were all
      status.explained.clear();
    }
    // What its files show while the scheduler does not answer may be less than that will know.
    if (!has_no_answer) remember_state(system, job, status);
    states.push_back(std::move(status));
  }
  return states;
}

}  // namespace ddlrun::schedulers
