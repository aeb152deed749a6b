// SPDX-License-Identifier: MIT
// `ddlrun wait ID...`: stays until the jobs and runs are over and ends with their status.
#include "base/text/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/run_ids.hpp"
#include "cli/run_output.hpp"
#include "schedulers/client/job_follow.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

constexpr std::string_view wait_examples =
    R"(  ddlrun wait 1234 && ./evaluate     # evaluate if job 1234 succeeds
  ddlrun wait 1234 1235              # exit status of the first job that failed
  ddlrun wait last                   # the newest job or run of `ddlrun launch`; of a run in a job: the job)";

int run_wait(System& system, const std::vector<std::string>& ids) {
  if (ids.empty())
    throw Error(ErrorKind::usage, {"wait for which job or run?", "",
                                   "ddlrun wait ID; ddlrun jobs and ddlrun history list yours"});
  const auto [runs, jobs] = find_meant_runs(system, ids, PlainJob::counts);
  FollowOptions options;
  options.log = false;
  const auto found = jobs.empty() ? std::vector<JobRef>() : find_jobs(system, jobs);  // all, before any wait
  int of_runs = 0;
  for (const std::string& run : runs) {
    const RunWait end = wait_for_run(system, run);
    if (end.is_left_alone) return end.status;
    if (of_runs == 0) of_runs = end.status;
  }
  const int of_jobs = found.empty() ? 0 : follow_jobs(system, found, options);
  return of_runs != 0 ? of_runs : of_jobs;
}

}  // namespace

Subcommand wait_command() {
  Subcommand command;
  command.name = "wait";
  command.summary = "wait for jobs or runs; the exit status is that of the first that failed";
  command.examples = wait_examples;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto ids = std::make_shared<std::vector<std::string>>();
    app.add_option(
        "ID", *ids,
        "job ids as printed by ddlrun submit; run ids of ddlrun history; last: the newest job or run");
    return [ids](System& system) { return run_wait(system, *ids); };
  };
  return command;
}

}  // namespace ddlrun::cli
