// SPDX-License-Identifier: MIT
#include "schedulers/client/job_directory.hpp"

#include "base/os/state_directory.hpp"
#include "base/text/error.hpp"
#include "schedulers/job/script.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace ddlrun::schedulers {

namespace {

bool fits_directive(SchedulerKind kind, const std::string& path) {
  const bool slurm = kind == SchedulerKind::slurm;
  if (!slurm && path.find_first_of("%:,") != std::string::npos) return false;  // PBS: HOST:PATH
  try {
    directive_value(ValueKind::path, path, "the job's directory");
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string find_job_dir(System& system, const JobSpec& job) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(system.clock.now());
  const std::string name = fmt::format("{}-{:%Y%m%d-%H%M%S}", job.name,
                                       fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
  const std::string jobs = job.workdir + "/ddlrun-jobs", usual = jobs + "/" + name;
  // The owner of the directory could replace the script before it is submitted.
  const std::string danger = system.files.foreign_owner(jobs);
  const bool fits = job.scheduler == SchedulerKind::local || fits_directive(job.scheduler, usual);
  if (danger.empty() && fits) return usual;
  const std::string state = find_own_state_directory(system, "the job's files", "export HOME") + "/jobs/";
  if (job.scheduler == SchedulerKind::local || fits_directive(job.scheduler, state)) return state + name;
  if (danger.empty()) return usual;  // it is refused with its reason
  throw Error(ErrorKind::request,
              {"the directory of the jobs is not safe: " + danger, jobs,
               "another working directory, or export XDG_STATE_HOME=/path/without/blanks"});
}

std::string log_of(const JobSpec& job, const JobDirectory& dir, const JobId& id, const std::string& task) {
  if (job.array && task.empty()) return {};
  if (job.output.empty()) return task.empty() ? dir.output() : dir.path + "/output." + task + ".log";
  std::string path = job.output[0] == '/' ? "" : job.workdir + "/";
  for (std::size_t i = 0; i < job.output.size(); ++i) {
    const char next = i + 1 < job.output.size() ? job.output[i + 1] : '\0';
    if (job.output[i] != '%' || next == '\0') {
      path += job.output[i];
      continue;
    }
    path += next == 'j'   ? id
            : next == 'A' ? id.substr(0, id.find('_'))
            : next == 'a' ? task
                          : std::string(1, next);
    ++i;
  }
  return path;
}

std::string kept_template(const JobDirectory& dir) { return dir.path + "/template"; }

}  // namespace ddlrun::schedulers
