// SPDX-License-Identifier: MIT
#include "schedulers/client/job_dependencies.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_query.hpp"

#include <fmt/format.h>

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
  if (is_over(status.state)) return check_end(wanted, dependency, status);
  const bool slurm = kind == SchedulerKind::slurm;
  if (status.state != JobState::unknown || !unreachable.empty() || !slurm) return;  // qsub refuses it itself
  refuse_dependency(
      wanted,
      fmt::format(
          "dependencies {}:{}: neither Slurm nor ddlrun's history has that job; Slurm takes such a job "
          "for one that ended as asked, and this one would start at once",
          dependency.kind, dependency.job),
      "the job without it; ddlrun jobs and squeue --me list those that are known");
}

}  // namespace

void check_dependencies(System& system, const JobRequest& wanted) {
  for (const Dependency& dependency : wanted.parsed.job.dependencies)
    check_dependency(system, wanted, dependency);
}

}  // namespace ddlrun::schedulers
