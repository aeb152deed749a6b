// SPDX-License-Identifier: MIT
// `ddlrun jobs`: what the user has submitted with ddlrun, from the own history, and how it stands.
#include "cli/commands/commands.hpp"
#include "schedulers/client/job_status_json.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

constexpr std::size_t most = 1000;
constexpr std::size_t most_asked = 100;
constexpr std::string_view jobs_examples =
    R"(  ddlrun jobs           # all jobs that you submitted with ddlrun, newest first
  ddlrun jobs --json    # with directories and logs)";

constexpr std::string_view jobs_notes =
    R"(jobs asks the scheduler once for the jobs that had not ended. If the scheduler does not answer, jobs shows
their last known state.)";

int run_jobs(System& system, bool json) {
  UnreachableSchedulers unreachable;
  const auto jobs = read_recent_jobs(system, most, most_asked, unreachable);
  warn_of_unreachable(system, unreachable);
  if (json) {
    system.out(render_status_json(jobs));
  } else if (jobs.empty()) {
    system.err("ddlrun: no jobs were submitted with ddlrun yet\n");
  } else {
    system.out(render_jobs_table(jobs));
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
    auto json = std::make_shared<bool>(false);
    app.add_flag("--json", *json, "print one JSON document (ddlrun.status/1)");
    return [json](System& system) { return run_jobs(system, *json); };
  };
  return command;
}

}  // namespace ddlrun::cli
