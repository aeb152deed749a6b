// SPDX-License-Identifier: MIT
#include "cli/job_submission.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/job_history.hpp"

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

}  // namespace

std::string job_folder_name(const std::string& working_folder, const std::string& job_name,
                            std::chrono::system_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{}/ddlrun-jobs/{}-{:%Y%m%d-%H%M%S}", working_folder, job_name,
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

PreparedJob prepare_job(System& system, const WantedJob& wanted, const schedulers::Scheduler& scheduler,
                        const std::string& folder) {
  const schedulers::JobSpec& job = wanted.reading.job;
  PreparedJob prepared;
  prepared.folder = {folder};
  prepared.script = scheduler.render(job, prepared.folder, wanted.site).text();
  prepared.left_out = scheduler.overriding_variables(system.environment.variables);
  prepared.submit =
      without_variables(scheduler.submit_command(job, prepared.folder.script()), prepared.left_out);
  return prepared;
}

KnownJob submit_job(System& system, const WantedJob& wanted, const schedulers::Scheduler& scheduler) {
  const schedulers::JobSpec& job = wanted.reading.job;
  const std::string name = job_folder_name(job.working_folder, job.name, system.clock.now());
  prepare_job(system, wanted, scheduler, name);  // what cannot be rendered leaves no folder behind
  const PreparedJob prepared = prepare_job(system, wanted, scheduler, make_job_folder(system, name));
  system.files.write(prepared.folder.script(), prepared.script);
  system.files.write(prepared.folder.path + "/ddlrun.yaml", render_job_settings(wanted.settings));
  KnownJob known;
  known.id = scheduler.read_submission(asker(system)(prepared.submit));
  known.scheduler = job.scheduler;
  known.name = job.name;
  known.folder = prepared.folder.path;
  known.output = log_of(job, prepared.folder, known.id);
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
