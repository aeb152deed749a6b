// SPDX-License-Identifier: MIT
#include "schedulers/client/job_submission.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_directory.hpp"
#include "schedulers/client/job_history.hpp"
#include "schedulers/client/job_options.hpp"
#include "schedulers/client/job_template.hpp"
#include "schedulers/client/scheduler_access.hpp"
#include "schedulers/client/submitted_job.hpp"
#include "schedulers/job/job_settings_text.hpp"

#include <fmt/format.h>

namespace ddlrun::schedulers {

namespace {

constexpr int most_in_one_second = 1000;

// The second, third ... job of the same name in the same second gets a number; the kernel decides which is
// first.
std::string make_job_dir(System& system, const std::string& name) {
  const std::string parent = name.substr(0, name.rfind('/'));
  system.files.make_directories(parent);
  // Somebody may have been faster than find_job_dir's check.
  if (const std::string why = system.files.foreign_owner(parent); !why.empty())
    throw Error(ErrorKind::request, {"the directory of the jobs is not safe: " + why, printable(parent),
                                     "another working directory"});
  for (int number = 1; number < most_in_one_second; ++number) {
    const std::string path = number == 1 ? name : fmt::format("{}-{}", name, number);
    if (system.files.make_new_directory(path)) return path;
  }
  throw Error(ErrorKind::request,
              {fmt::format("{} and {} more directories are taken", printable(name), most_in_one_second),
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

// Nothing of a job that was not handed in; the directory above only where it is empty.
void remove_job_directory(System& system, const JobDirectory& dir) {
  const std::string above = dir.path.substr(0, dir.path.rfind('/'));
  for (const std::string& path :
       {dir.script(), dir.path + "/ddlrun.yaml", kept_template(dir), dir.path, above}) {
    try {
      system.files.remove(path);
    } catch (const Error&) {
      return;  // it holds more: other jobs, or files that this submission did not write
    }
  }
}

// All of them, or on a full disk none.
void write_job_files(System& system, const PreparedJob& prepared, const JobRequest& wanted) {
  try {
    system.files.write(prepared.dir.script(), prepared.script);
    system.files.write(prepared.dir.path + "/ddlrun.yaml", render_job_settings(wanted.settings));
    if (!wanted.parsed.job.script_template.empty())
      system.files.write(kept_template(prepared.dir), wanted.template_text);
  } catch (const Error&) {
    remove_job_directory(system, prepared.dir);
    throw;
  }
}

// The id of the job. A command that ended with an error has submitted nothing; after a timeout, or an answer
// that cannot be read, the job may exist and needs its directory.
JobId hand_in(System& system, const Scheduler& scheduler, const PreparedJob& prepared) {
  const ProcessResult answer = scheduler_runner(system)(prepared.submit);
  try {
    return scheduler.read_submission(answer);
  } catch (const Error&) {
    const bool refused = !answer.timed_out && (answer.exit_status != 0 || !answer.start_error.empty());
    if (refused) remove_job_directory(system, prepared.dir);
    throw;
  }
}

}  // namespace

PreparedJob prepare_job(System& system, const JobRequest& wanted, const Scheduler& scheduler,
                        const std::string& dir) {
  const JobSpec& job = wanted.parsed.job;
  PreparedJob prepared;
  prepared.dir = {dir};
  prepared.script = job.script_template.empty() ? scheduler.render(job, prepared.dir, wanted.site).text()
                                                : fill_job_template(wanted, prepared.dir);
  prepared.left_out = scheduler.overriding_variables(system.environment.variables);
  prepared.submit =
      without_variables(scheduler.submit_command(job, prepared.dir.script()), prepared.left_out);
  return prepared;
}

JobRef submit_job(System& system, const JobRequest& wanted, const Scheduler& scheduler,
                  PreparedJob prepared) {
  const JobSpec& job = wanted.parsed.job;
  const std::string made = make_job_dir(system, prepared.dir.path);
  if (made != prepared.dir.path) prepared = prepare_job(system, wanted, scheduler, made);
  write_job_files(system, prepared, wanted);
  JobRef known;
  known.id = hand_in(system, scheduler, prepared);
  known.scheduler = job.scheduler;
  known.name = job.name;
  known.dir = prepared.dir.path;
  if (has_known_log(system, known)) known.output = log_of(job, prepared.dir, known.id);
  remember_job(system, known);
  return known;
}

}  // namespace ddlrun::schedulers
