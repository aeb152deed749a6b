// SPDX-License-Identifier: MIT
#include "schedulers/client/job_dependencies.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_query.hpp"
#include "schedulers/client/scheduler_access.hpp"
#include "schedulers/job/job_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace ddlrun::schedulers {

namespace {

std::string origin_of_dependencies(const JobRequest& wanted) {
  const auto found = wanted.settings.find("dependencies");
  return found == wanted.settings.end() ? std::string() : found->second.origin;
}

[[noreturn]] void refuse_dependency(const JobRequest& wanted, std::string what, std::string hint) {
  throw Error(ErrorKind::request, {std::move(what), origin_of_dependencies(wanted), std::move(hint)});
}

// Over, and not as it is waited for.
void check_end(const JobRequest& wanted, const Dependency& dependency, const JobStatus& status) {
  const bool well = status.state == JobState::completed;
  const bool missed = (dependency.kind == "afterok" && !well) || (dependency.kind == "afternotok" && well);
  if (!missed) return;
  const std::string end =
      well ? "completed" : fmt::format("{} ({})", name_of(status.state), exit_status_of(status));
  refuse_dependency(wanted,
                    fmt::format("dependencies {}:{}: that job is over and {}, so this one would wait for "
                                "nothing, or start all the same once it is forgotten",
                                dependency.kind, dependency.job, end),
                    well ? fmt::format("afterok:{0}, or the job without it", dependency.job)
                         : fmt::format("afterany:{0}, or mend that one and submit both: ddlrun logs {0}",
                                       quote_shell(dependency.job)));
}

bool is_on_newest(const Dependency& dependency) { return dependency.job == newest_job; }

bool is_array_word(const JobId& id) { return id.find('[') != JobId::npos; }

// "24" -> "24[]", "24.server" -> "24[].server"
JobId array_word(JobId id) {
  id.insert(std::min(id.find('.'), id.size()), "[]");
  return id;
}

// What PBS itself has of these jobs; nothing where it does not answer.
std::optional<std::map<JobId, JobStatus>> ask_pbs(System& system, const std::vector<JobId>& ids) {
  const CommandRunner runner = scheduler_runner(system);
  const auto ask = [&](const Command& command) {
    return command.front() == "pbsnodes" ? ProcessResult() : runner(command);
  };
  try {
    return make_scheduler(SchedulerKind::pbs)->read_states(ids, ask);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
    return std::nullopt;
  }
}

// The id by which PBS has the job: of an array "24[]". OpenPBS 23.06 takes "24" for a job that it does not
// have, and removes the job that waits for it at once.
JobId find_pbs_word(System& system, const JobId& id) {
  const auto known = find_remembered_job(system, id);
  if (known && known->scheduler == SchedulerKind::pbs) return known->id;
  if (is_array_word(id) || id.find_first_of("@_") != JobId::npos) return id;
  const JobId array = array_word(id);
  const auto states = ask_pbs(system, {id, array});
  const bool is_array =
      states && states->at(id).state == JobState::unknown && states->at(array).state != JobState::unknown;
  return is_array ? array : id;
}

void name_pbs_array(System& system, JobRequest& wanted, Dependency& dependency) {
  const JobId found = find_pbs_word(system, dependency.job);
  const std::size_t bracket = found.find('[');
  if (bracket == JobId::npos) return;
  const JobId whole = found.substr(0, bracket) + "[]";
  if (found.compare(bracket, 2, "[]") != 0)
    refuse_dependency(
        wanted,
        fmt::format("dependencies {}:{}: a task of an array; PBS lets a job wait for all tasks only",
                    dependency.kind, dependency.job),
        fmt::format("{}:{}", dependency.kind, whole));
  if (is_array_word(dependency.job)) return;
  wanted.parsed.remarks.push_back(
      fmt::format("dependencies: job {} is an array; PBS has it as {}", dependency.job, whole));
  dependency.job = array_word(dependency.job);
}

// A job that PBS does not have, though the history may: PBS would remove the new one at once.
void refuse_forgotten(System& system, const JobRequest& wanted, const Dependency& dependency,
                      const JobRef& job) {
  if (dependency.job.find('@') != JobId::npos) return;  // another server's
  const auto states = ask_pbs(system, {job.id});
  if (!states || states->at(job.id).state != JobState::unknown) return;
  refuse_dependency(wanted,
                    fmt::format("dependencies {}:{}: PBS does not have that job{}; it would remove this one "
                                "before its start",
                                dependency.kind, dependency.job, job.submitted_here() ? " any more" : ""),
                    "the job without it; qstat -x lists the jobs that PBS has");
}

void check_dependency(System& system, const JobRequest& wanted, const Dependency& dependency) {
  const auto kind = wanted.parsed.job.scheduler;
  JobRef job = find_jobs(system, {dependency.job}, kind).front();
  if (job.scheduler != kind) {  // another scheduler's job of the same number
    job = JobRef{};
    job.id = dependency.job;
    job.scheduler = kind;
  }
  UnreachableSchedulers unreachable;
  const JobStatus status = read_job_states(system, {job}, unreachable).front();
  if (is_over(status.state)) check_end(wanted, dependency, status);
  const bool is_open = !is_over(status.state) && status.state != JobState::unknown;
  if (kind == SchedulerKind::pbs && !is_open) return refuse_forgotten(system, wanted, dependency, job);
  // Torque's qsub refuses it itself.
  if (status.state != JobState::unknown || !unreachable.empty() || kind != SchedulerKind::slurm) return;
  refuse_dependency(
      wanted,
      fmt::format(
          "dependencies {}:{}: neither Slurm nor ddlrun's history has that job; Slurm takes such a job "
          "for one that ended as asked, and this one would start at once",
          dependency.kind, dependency.job),
      "the job without it; ddlrun jobs and squeue --me list those that are known");
}

}  // namespace

void name_newest(System& system, JobRequest& wanted) {
  if (std::ranges::any_of(wanted.parsed.job.dependencies, is_on_newest))
    name_newest(wanted, find_remembered_job(system, std::string(newest_job)));
}

void name_newest(JobRequest& wanted, const std::optional<JobRef>& newest) {
  auto& job = wanted.parsed.job;
  if (!newest)
    refuse_dependency(wanted, "dependencies: no jobs were submitted with ddlrun yet, so none is the last",
                      "dependencies: afterok:123");
  if (newest->scheduler != job.scheduler)
    refuse_dependency(wanted,
                      fmt::format("dependencies: the last job, {}, is not one of {}", printable(newest->id),
                                  make_scheduler(job.scheduler)->name()),
                      "ddlrun jobs lists yours; then afterok:ID");
  std::vector<std::string> words;
  for (Dependency& dependency : job.dependencies) {
    if (is_on_newest(dependency)) dependency.job = newest->id;
    words.push_back(dependency.kind + ":" + dependency.job);
  }
  wanted.parsed.remarks.push_back(fmt::format("dependencies: the last job is {} ({})", printable(newest->id),
                                              printable(newest->name, 60)));
  Setting& setting = wanted.settings.at("dependencies");
  setting = list_setting(words, setting.origin);
}

void name_arrays(System& system, JobRequest& wanted) {
  if (wanted.parsed.job.scheduler != SchedulerKind::pbs) return;
  for (Dependency& dependency : wanted.parsed.job.dependencies) name_pbs_array(system, wanted, dependency);
}

void check_dependencies(System& system, const JobRequest& wanted) {
  for (const Dependency& dependency : wanted.parsed.job.dependencies)
    check_dependency(system, wanted, dependency);
}

}  // namespace ddlrun::schedulers
