// SPDX-License-Identifier: MIT
// `ddlrun logs ID [-f]`: what the job has said so far, or until its end.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/run_output.hpp"
#include "launch/history/cancel_run.hpp"
#include "schedulers/client/job_follow.hpp"
#include "schedulers/client/job_log.hpp"
#include "schedulers/client/submitted_job.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

constexpr std::string_view logs_examples = R"(  ddlrun logs 1234      # the log of job 1234 so far
  ddlrun logs last      # of the newest job
  ddlrun logs 20261126-101502-x4Kd2P   # what --tee or --rank-output files kept of a run of ddlrun launch
  ddlrun logs -f 1234   # follow the log until the end of the job; the exit status is that of the job)";

struct LogsOptions {
  std::vector<std::string> ids;
  bool follow = false;
};

int run_logs(System& system, const LogsOptions& options) {
  if (options.ids.size() != 1) {
    throw Error(ErrorKind::usage, {fmt::format("logs takes one job, not {}", options.ids.size()), "",
                                   "ddlrun logs ID; ddlrun jobs lists yours"});
  }
  const std::string& id = options.ids.front();
  if (launch::names_run(id)) {
    if (options.follow)
      throw Error(ErrorKind::usage, {"logs -f follows jobs of ddlrun submit; this is a run of ddlrun launch",
                                     printable(id, 200), "ddlrun logs " + quote_shell(printable(id, 200))});
    print_run_output(system, id);
    return 0;
  }
  const JobRef job = find_jobs(system, options.ids).front();
  if (job.output.empty()) throw Error(ErrorKind::request, why_no_log(system, job, "logs"));
  if (options.follow) return follow_jobs(system, {job}, {});
  JobLog log(job.output);
  log.take(system, [&](std::string_view bytes) { system.out(bytes); });
  if (!log.seen()) system.err(fmt::format("ddlrun: job {} has no output yet\n", printable(job.id)));
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
    app.add_option("ID", options->ids,
                   "the job id as printed by ddlrun submit, or last; or a run of ddlrun launch");
    app.add_flag("-f,--follow", options->follow, "stay until the end of the job");
    return [options](System& system) { return run_logs(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
