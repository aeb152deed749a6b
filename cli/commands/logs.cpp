// SPDX-License-Identifier: MIT
// `ddlrun logs [ID] [-f]`: what a job or a run has printed so far, or until its end.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/run_ids.hpp"
#include "cli/run_output.hpp"
#include "schedulers/client/job_follow.hpp"
#include "schedulers/client/job_log.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/submitted_job.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

constexpr std::string_view logs_examples =
    R"(  ddlrun logs           # of the newest job or run so far, as logs last; of a run in a job: of the job
  ddlrun logs 1234      # of job 1234; of an array: of each task
  ddlrun logs 1234_2    # of one task; of the newest job: last_2
  ddlrun logs 20261126-101502-x4Kd2P   # what --tee or --rank-output files kept of a run of ddlrun launch
  ddlrun logs ddlrun-jobs/train-20261126-101502   # of a job script that was handed in by hand
  ddlrun logs -f 1234   # follow the log until the end of the job; the exit status is that of the job
  ddlrun logs -f last   # the same of the newest job or run)";

struct LogsOptions {
  std::vector<std::string> ids;
  bool follow = false;
};

// Whether there is a log: of the job, of its stderr where that is another, of its ranks, or of what PBS
// caught.
bool print_logs(System& system, const JobRef& job) {
  LogPrinter logs;
  logs.add(job.output, LogPrinter::Title::none);
  logs.add(job.error_output, LogPrinter::Title::none);
  for (const std::string& file : JobRankFiles(job).find_new(system)) logs.add(file);
  logs.add(spool_log(system, job));
  logs.print_new(system);
  return logs.seen();
}

// The logs of an array's tasks, each below a line as `head` prints it; whether there is one.
bool print_task_logs(System& system, const JobRef& job) {
  bool any = false;
  for (const std::uint64_t index : submitted_tasks(system, job)) {
    const auto task = find_remembered_job(system, task_id(job, index));
    if (!task || task->output.empty() || !system.files.exists(task->output)) continue;
    system.out(fmt::format("{}==> {}: {} <==\n", any ? "\n" : "", printable(task->id, 64),
                           printable(task->output, 300)));
    any = print_logs(system, *task) || any;
  }
  return any;
}

// A job that is over will never have any.
int report_no_output(System& system, const JobRef& job) {
  UnreachableSchedulers unreachable;
  const JobStatus status = read_job_states(system, {job}, unreachable, NodeList::left_out).front();
  warn_of_unreachable(system, unreachable);
  const Message message = no_output(system, job, status);
  if (is_over(status.state)) throw Error(ErrorKind::request, message);
  system.err("ddlrun: " + message.what + "\n");
  return 0;
}

int run_logs(System& system, const LogsOptions& options) {
  if (options.ids.size() > 1) {
    throw Error(ErrorKind::usage, {fmt::format("logs takes one job, not {}", options.ids.size()), "",
                                   "ddlrun logs ID; ddlrun jobs lists yours"});
  }
  const std::string word = options.ids.empty() ? "last" : options.ids.front();
  if (names_job_directory(system, word)) return print_job_directory(system, word, options.follow);
  const auto [run, id] = find_meant(system, word, PlainJob::counts);
  if (!run.empty()) {
    if (options.follow) return follow_run_output(system, run);
    print_run_output(system, run);
    return 0;
  }
  JobRef job = find_jobs(system, {id}).front();
  if (!job.submitted_here()) {
    read_foreign_job(system, job);
    if (job.last.state == JobState::unknown) throw unknown_job_error(job, job.last);
  }
  if (job.output.empty() && !options.follow && print_task_logs(system, job)) return 0;
  if (job.output.empty()) throw Error(ErrorKind::request, why_no_log(system, job, "logs"));
  if (options.follow) {
    FollowOptions follow;
    follow.find_more_logs = [files = std::make_shared<JobRankFiles>(job)](System& here) {
      return files->find_new(here);
    };
    return follow_jobs(system, {job}, follow);
  }
  if (print_logs(system, job)) return 0;
  if (job.submitted_here()) return report_no_output(system, job);
  system.err(fmt::format("ddlrun: job {} has no output yet here: {} is not there\n", printable(job.id),
                         printable(job.output, 300)));
  return 0;
}

}  // namespace

Subcommand logs_command() {
  Subcommand command;
  command.name = "logs";
  command.summary = "print a job's log, or what a run of launch kept of its output";
  command.examples = logs_examples;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<LogsOptions>();
    app.add_option(
        "ID", options->ids,
        "the job id as printed by ddlrun submit, or last (the default); or a run of ddlrun launch");
    app.add_flag("-f,--follow", options->follow, "stay until the end of the job or run");
    return [options](System& system) { return run_logs(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
