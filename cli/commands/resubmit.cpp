// SPDX-License-Identifier: MIT
// `ddlrun resubmit ID`: the job of an earlier submission once more, with changed settings where they are
// named.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/job_flags.hpp"
#include "cli/run_ids.hpp"
#include "cli/submit_job.hpp"
#include "schedulers/client/job_directory.hpp"
#include "schedulers/client/job_query.hpp"
#include "schedulers/client/submitted_job.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

constexpr std::string_view resubmit_examples = R"(  ddlrun resubmit 1234                 # the same job again
  ddlrun resubmit 1234 --walltime 8h   # with another time limit
  ddlrun resubmit 1234_5               # the task 5 of an array
  ddlrun resubmit last --dry-run       # the script of the newest job
  ddlrun resubmit 1234 -- ./train --epochs 9   # with another program)";

struct ResubmitOptions {
  std::string id;
  JobOptions job;
  bool detach = false;
};

void check_task(System& system, const JobRef& job) {
  const auto tasks = submitted_tasks(system, job);
  const auto task = parse_unsigned(job.task);
  if (task && std::ranges::find(tasks, *task) != tasks.end()) return;
  throw Error(ErrorKind::request, {fmt::format("the job has no task {}", printable(job.task, 40)),
                                   printable(job.id, 80), "ddlrun status lists its tasks"});
}

// The settings that were written beside the job's script, and the template that was kept there.
int run_resubmit(System& system, ResubmitOptions options) {
  if (options.id.empty())
    throw Error(ErrorKind::usage, {"which job?", "", "ddlrun resubmit ID; ddlrun jobs lists yours"});
  refuse_run_ids({options.id}, "resubmit");
  const JobRef job = find_jobs(system, {options.id}).front();
  const std::string file = job.dir + "/ddlrun.yaml";
  if (!job.submitted_here() || !system.files.exists(file))
    throw Error(ErrorKind::request,
                {fmt::format("the settings of job {} no longer exist", printable(job.id, 80)),
                 job.dir.empty() ? "it was not submitted with ddlrun" : printable(job.dir, 300),
                 "ddlrun submit with its options"});
  options.job.file = file;
  options.job.again = true;
  if (const std::string kept = kept_template(job.files()); system.files.exists(kept))
    options.job.flags["template"] = {kept};
  if (!job.task.empty() && options.job.flags["array"].empty()) {
    check_task(system, job);
    options.job.flags["array"] = {job.task};
    system.err(fmt::format("ddlrun: only task {} of the array: --array {}\n", job.task, job.task));
  }
  return submit_job(system, options.job, options.detach);
}

}  // namespace

Subcommand resubmit_command() {
  Subcommand command;
  command.name = "resubmit";
  command.summary = "submit an earlier job again, with changes";
  command.examples = resubmit_examples;
  command.notes =
      R"(The job's settings are those that were written beside its script, its working directory too. Only options
replace them; variables such as DDLRUN_WALLTIME do not. Variables that `environment` names without a value
have those of this shell.)";
  command.takes_program = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>& rest) -> Run {
    auto options = std::make_shared<ResubmitOptions>();
    options->job.program = rest;
    app.add_option("ID", options->id, "a job's id as printed by ddlrun submit, or last");
    add_job_settings(app, options->job);
    app.add_flag("--detach", options->detach, "return once the job is in the queue");
    app.add_flag("--dry-run", options->job.dry_run, "print the script; write and submit nothing");
    return [options](System& system) { return run_resubmit(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
