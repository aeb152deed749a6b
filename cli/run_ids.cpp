// SPDX-License-Identifier: MIT
#include "cli/run_ids.hpp"

#include "base/os/host_info.hpp"
#include "base/os/unix_time.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/history/cancel_run.hpp"
#include "launch/history/run_store.hpp"
#include "schedulers/client/job_query.hpp"
#include "schedulers/client/submitted_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

// "last" is the newest run.
std::optional<JobRef> find_job(System& system, const std::string& word) {
  if (word == "last" || launch::names_run(word) || system.files.exists(word + "/run.json"))
    return std::nullopt;
  auto job = find_remembered_job(system, word);
  return job && job->submitted_here() ? job : std::nullopt;
}

struct JobRun {
  std::string directory;
  launch::RunRecord record;
};

// The job's script makes "run.ID", and "run.ID.requeue1" when the job starts again. launch adds ".1" for a
// restart inside the job. PBS has another job with an id of its own for each start, with the same job
// directory.
bool names_run_of(std::string_view name, const std::string& id) {
  const std::string own = "run." + id;
  return name == own || name.starts_with(own + ".");
}

bool is_run_name(std::string_view name, const JobRef& job) {
  return job.task.empty() ? name.starts_with("run.") : names_run_of(name, job.id);
}

// Oldest first.
std::vector<JobRun> list_job_runs(System& system, const JobRef& job) {
  std::vector<JobRun> runs;
  for (const std::string& directory : list_run_directories(system, job))
    if (system.files.exists(directory + "/run.json"))
      runs.push_back({directory, launch::read_run(system, directory, false)});
  std::ranges::sort(runs, [](const JobRun& a, const JobRun& b) {
    return std::tie(a.record.start_us, a.directory) < std::tie(b.record.start_us, b.directory);
  });
  return runs;
}

// 2 of "run.4711.requeue2" and "run.4711.requeue2.1"; 0 of the first start.
std::uint64_t requeue_of(const std::string& directory, const std::string& id) {
  const std::string lead = "run." + id + ".requeue";
  std::string_view name = base_name(directory);
  if (!name.starts_with(lead)) return 0;
  name.remove_prefix(lead.size());
  return parse_unsigned(name.substr(0, name.find('.'))).value_or(0);
}

// "2026-11-25 22:32:37" -> "20261125-223237", as the id of a run begins.
std::string as_run_time(const std::string& submitted) {
  std::string time;
  for (const char c : submitted)
    if (c != '-' && c != ':') time += c == ' ' ? '-' : c;
  return time;
}

// Whether this process belongs to the job.
bool is_inside(const System& system, const std::string& job) {
  return std::ranges::any_of(std::array{"PBS_JOBID", "SLURM_JOB_ID"},
                             [&](const char* name) { return system.environment.get(name) == job; });
}

// The newest run, if it is newer than the newest job and belongs to no job.
RunOrJob find_last(System& system, PlainJob plain) {
  const RunOrJob newest_job{"", "last"};
  const auto runs = launch::list_runs(system);
  if (runs.empty()) return newest_job;
  const launch::ListedRun& run = runs.front();
  const auto job = find_remembered_job(system, "last");
  const bool is_older = job && run.id < as_run_time(job->submitted);
  if (is_older || (job && run.directory.starts_with(job->dir + "/"))) return newest_job;
  try {
    const std::string id = launch::read_run(system, run.directory, false).job;
    if (id.empty()) return {run.id, ""};
    if (find_remembered_job(system, id)) return newest_job;
    const bool means_job = plain == PlainJob::counts && find_plain_batch_job(system, id);
    return means_job ? RunOrJob{"", id} : RunOrJob{run.id, ""};
  } catch (const Error&) {
    return {run.id, ""};  // a damaged record: it is refused with its reason
  }
}

}  // namespace

std::string find_run_or_job(System& system, const std::string& word, const std::string& command) {
  const auto job = find_job(system, word);
  if (!job) return launch::find_run_directory(system, word);
  const std::string id = printable(job->id, 80);
  const auto tasks = job->task.empty() ? submitted_tasks(system, *job) : std::vector<std::uint64_t>();
  if (!tasks.empty())
    throw Error(ErrorKind::request,
                {fmt::format("job {} is an array: each task has a run of its own", id), "",
                 fmt::format("{} {}", command, quote_shell(task_id(*job, tasks.front())))});
  const auto runs = list_job_runs(system, *job);
  if (!runs.empty()) return runs.back().directory;
  throw Error(
      ErrorKind::request,
      {fmt::format("job {} has no run of ddlrun launch: it has not started one, or its runner is another",
                   id),
       printable(job->dir, 300), "ddlrun status " + quote_shell(job->id)});
}

std::vector<launch::HistoryRow> read_job_runs(System& system, const std::string& word) {
  const auto job = find_job(system, word);
  return job ? read_job_runs(system, *job) : std::vector<launch::HistoryRow>();
}

std::vector<launch::HistoryRow> read_job_runs(System& system, const JobRef& job) {
  if (!job.submitted_here() || (job.task.empty() && !submitted_tasks(system, job).empty())) return {};
  std::vector<launch::HistoryRow> rows;
  try {
    const auto now = unix_seconds(system);
    for (const auto& [directory, run] : list_job_runs(system, job))
      rows.push_back(launch::history_row(run, directory, launch::find_run_state(system, run), now));
  } catch (const Error&) {
    return {};  // a damaged record: the command that shows it refuses it
  }
  return rows;
}

void add_run_times(System& system, const JobRef& job, JobStatus& status) {
  const auto runs = read_job_runs(system, job);
  if (runs.empty()) return;
  const auto last =
      std::max(static_cast<std::uint64_t>(status.restarts), requeue_of(runs.back().directory, job.id));
  std::uint64_t earlier = 0, all = 0;
  for (const launch::HistoryRow& run : runs) {
    const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(run.seconds.value_or(0), 0));
    all += seconds;
    if (names_run_of(base_name(run.directory), job.id) && requeue_of(run.directory, job.id) < last)
      earlier += seconds;
  }
  if (earlier > 0) status.run_seconds = earlier + status.run_seconds.value_or(0);
  if (runs.size() < 2) return;
  status.runs = runs.size();
  status.all_seconds = all;
}

std::vector<std::string> list_run_directories(System& system, const JobRef& job) {
  if (!job.submitted_here()) return launch::list_run_directories(system, job.id);
  std::vector<std::string> directories;
  if (system.kernel == nullptr) return directories;
  for (const std::string& name : system.kernel->list_directory(job.dir))
    if (is_run_name(name, job)) directories.push_back(job.dir + "/" + name);
  std::ranges::sort(directories);
  return directories;
}

std::optional<JobRef> find_plain_job(System& system, const std::string& word) {
  try {
    auto job = schedulers::find_jobs(system, {word}).front();
    read_foreign_job(system, job);
    const bool is_known = job.last.state != JobState::unknown;
    return is_known ? std::optional(std::move(job)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // no id of a job, no scheduler, or one that does not answer
  }
}

std::optional<JobRef> find_plain_batch_job(System& system, const std::string& id) {
  auto job = is_inside(system, id) ? std::nullopt : find_plain_job(system, id);
  return job && !job->output.empty() ? std::move(job) : std::nullopt;
}

RunOrJob find_meant(System& system, const std::string& word, PlainJob plain) {
  if (word == "last") return find_last(system, plain);
  if (launch::names_run(word)) return {word, ""};
  // The name of a job's run begins with a letter; the id of a job does not.
  const bool may_be_name = !word.empty() && (word[0] < '0' || word[0] > '9') && !word.starts_with("last_");
  const auto named = may_be_name ? launch::find_named_runs(system, word) : std::vector<std::string>();
  if (named.empty()) return {"", word};
  // By its directory, which needs no second list of the runs. Of several, or with one here,
  // find_run_directory() decides.
  const bool is_here = system.files.exists(word + "/run.json");
  return {named.size() == 1 && !is_here ? named.front() : word, ""};
}

RunsAndJobs find_meant_runs(System& system, const std::vector<std::string>& words, PlainJob plain) {
  refuse_job_directories(system, words);
  RunsAndJobs meant;
  for (const std::string& word : words) {
    const auto [run, job] = find_meant(system, word, plain);
    run.empty() ? meant.jobs.push_back(job) : meant.runs.push_back(run);
  }
  return meant;
}

void refuse_job_directories(System& system, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const bool is_below = word.find("ddlrun-jobs/") != std::string::npos && system.files.exists(word);
    if (!is_below || system.files.exists(word + "/run.json")) continue;
    const std::string path = printable(quote_shell(word), 300);
    const bool has_output = system.files.exists(word + "/output.log");
    const std::string readers =
        has_output ? fmt::format("ddlrun logs {0}; ddlrun diagnose {0}; ", path) : std::string();
    throw Error(ErrorKind::request,
                {fmt::format("{} is a directory of a job, and no job id", path), "",
                 readers + "ddlrun status ID, with the id that ddlrun submit, sbatch or qsub printed"});
  }
}

void refuse_run_ids(const std::vector<std::string>& ids, const std::string& command) {
  for (const std::string& id : ids) {
    if (!launch::names_run(id) || id.find('/') != std::string::npos) continue;
    const std::string word = printable(id, 80);
    throw Error(
        ErrorKind::request,
        {fmt::format("'{}' is a run of ddlrun launch, and {} takes jobs of ddlrun submit", word, command), "",
         fmt::format("ddlrun history; ddlrun report {}; ddlrun logs {}", word, word)});
  }
}

}  // namespace ddlrun::cli
