// SPDX-License-Identifier: MIT
#include "schedulers/client/job_submission.hpp"

#include "base/os/state_directory.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_history.hpp"
#include "schedulers/client/job_template.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace ddlrun::cli {

namespace {

constexpr int most_in_one_second = 1000;

// The second, third ... job of the same name in the same second gets a number; the kernel says who was first.
std::string make_job_folder(System& system, const std::string& name) {
  const std::string parent = name.substr(0, name.rfind('/'));
  system.files.make_folders(parent);
  for (int number = 1; number < most_in_one_second; ++number) {
    const std::string path = number == 1 ? name : fmt::format("{}-{}", name, number);
    if (system.files.make_new_folder(path)) return path;
  }
  throw Error(ErrorKind::request,
              {fmt::format("{} and {} more folders are taken", printable(name), most_in_one_second),
               printable(parent), "another --name"});
}

Command without_variables(Command command, const std::vector<std::string>& names) {
  if (names.empty()) return command;
  Command env{"env"};
  for (const std::string& name : names) {
    env.emplace_back("-u");
    env.push_back(name);
  }
  env.insert(env.end(), command.begin(), command.end());
  return env;
}

bool fits_directive(schedulers::SchedulerKind kind, const std::string& path) {
  const bool slurm = kind == schedulers::SchedulerKind::slurm;
  if (!slurm && path.find_first_of("%:,") != std::string::npos) return false;  // PBS: HOST:PATH
  try {
    schedulers::directive_value(schedulers::ValueKind::path, path, "the job's folder");
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string find_job_folder(System& system, const schedulers::JobSpec& job) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(system.clock.now());
  const std::string name = fmt::format("{}-{:%Y%m%d-%H%M%S}", job.name,
                                       fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
  const std::string usual = job.working_folder + "/ddlrun-jobs/" + name;
  if (job.scheduler == schedulers::SchedulerKind::local || fits_directive(job.scheduler, usual)) return usual;
  const std::string state =
      find_state_directory(system.environment, "the job's files", "export HOME") + "/jobs/";
  return fits_directive(job.scheduler, state) ? state + name : usual;  // it is refused with its reason
}

PreparedJob prepare_job(System& system, const JobRequest& wanted, const schedulers::Scheduler& scheduler,
                        const std::string& folder) {
  const schedulers::JobSpec& job = wanted.reading.job;
  PreparedJob prepared;
  prepared.folder = {folder};
  prepared.script = job.script_template.empty() ? scheduler.render(job, prepared.folder, wanted.site).text()
                                                : fill_job_template(wanted, prepared.folder);
  prepared.left_out = scheduler.overriding_variables(system.environment.variables);
  prepared.submit =
      without_variables(scheduler.submit_command(job, prepared.folder.script()), prepared.left_out);
  return prepared;
}

JobRef submit_job(System& system, const JobRequest& wanted, const schedulers::Scheduler& scheduler) {
  const schedulers::JobSpec& job = wanted.reading.job;
  const std::string name = find_job_folder(system, job);
  prepare_job(system, wanted, scheduler, name);  // what cannot be rendered leaves no folder behind
  const PreparedJob prepared = prepare_job(system, wanted, scheduler, make_job_folder(system, name));
  system.files.write(prepared.folder.script(), prepared.script);
  system.files.write(prepared.folder.path + "/ddlrun.yaml", render_job_settings(wanted.settings));
  if (!job.script_template.empty()) system.files.write(kept_template(prepared.folder), wanted.template_text);
  JobRef known;
  known.id = scheduler.read_submission(asker(system)(prepared.submit));
  known.scheduler = job.scheduler;
  known.name = job.name;
  known.folder = prepared.folder.path;
  if (tells_log(system, known)) known.output = log_of(job, prepared.folder, known.id);
  remember_job(system, known);
  return known;
}

std::string log_of(const schedulers::JobSpec& job, const schedulers::JobFolder& folder,
                   const schedulers::JobId& id, const std::string& task) {
  if (job.array && task.empty()) return {};
  if (job.output.empty()) return task.empty() ? folder.output() : folder.path + "/output." + task + ".log";
  std::string path = job.output[0] == '/' ? "" : job.working_folder + "/";
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

}  // namespace ddlrun::cli
