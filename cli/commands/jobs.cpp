// SPDX-License-Identifier: MIT
// `ddlrun jobs`: what the user has submitted with ddlrun, from the own history, and how it stands.
#include "cli/commands/commands.hpp"
#include "cli/option_values.hpp"
#include "cli/run_ids.hpp"
#include "schedulers/client/job_history.hpp"
#include "schedulers/client/job_status_json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

constexpr std::size_t most = 1'000'000;
constexpr std::size_t most_asked = 100;
constexpr std::string_view jobs_examples =
    R"(  ddlrun jobs           # all jobs that you submitted with ddlrun, newest first
  ddlrun jobs --json    # with directories and logs
  ddlrun jobs --prune 90d   # forget jobs that you submitted more than 90 days ago; their files stay)";

constexpr std::string_view jobs_notes =
    R"(jobs asks the scheduler once for the jobs that had not ended. If the scheduler does not answer, jobs shows
their last known state.)";

struct JobsOptions {
  std::string limit = "20";
  std::string prune;
  bool json = false;
};

int prune(System& system, const std::string& age) {
  const std::size_t forgotten = forget_jobs(system, parse_age_option("--prune", age));
  system.err(fmt::format("ddlrun: {} job{} removed from the list; their directories stay\n", forgotten,
                         forgotten == 1 ? "" : "s"));
  return 0;
}

int run_jobs(System& system, const JobsOptions& options) {
  if (!options.prune.empty()) return prune(system, options.prune);
  const std::uint64_t limit = parse_limit_option(options.limit);
  UnreachableSchedulers unreachable;
  auto jobs = read_recent_jobs(system, limit == 0 ? most : limit + 1, most_asked, unreachable);
  warn_of_unreachable(system, unreachable);
  const bool more = limit > 0 && jobs.size() > limit;
  if (more) jobs.resize(limit);
  for (auto& [job, status] : jobs) add_run_times(system, job, status);
  if (options.json) {
    system.out(render_status_json(jobs));
  } else if (jobs.empty()) {
    system.err("ddlrun: no jobs were submitted with ddlrun yet; runs of ddlrun launch: ddlrun history\n");
  } else {
    system.out(render_jobs_table(jobs));
    if (more) system.err("ddlrun: older jobs are not shown (--limit 0; --prune 90d forgets old ones)\n");
  }
  return 0;
}

}  // namespace

Subcommand jobs_command() {
  Subcommand command;
  command.name = "jobs";
  command.summary = "list the jobs that you submitted";
  command.examples = jobs_examples;
  command.notes = jobs_notes;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<JobsOptions>();
    app.add_option("--limit", options->limit, "show at most the N newest jobs (20); 0: all")->type_name("N");
    app.add_option("--prune", options->prune, "forget jobs older than AGE: 12h, 90d, 8w")->type_name("AGE");
    app.add_flag("--json", options->json, "print one JSON document (ddlrun.status/1)");
    return [options](System& system) { return run_jobs(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
