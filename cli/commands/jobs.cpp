// SPDX-License-Identifier: MIT
// `ddlrun jobs`: what the user has submitted with ddlrun, from the own history; nobody is asked.
#include "cli/commands/commands.hpp"
#include "cli/job_history.hpp"
#include "cli/job_status_json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

namespace {

constexpr std::size_t most = 1000;
constexpr std::string_view examples =
    "  ddlrun jobs           # all that you submitted with ddlrun, newest first, as last seen\n"
    "  ddlrun jobs --json    # with folders and logs\n\n"
    "Only the own history is read; `ddlrun status` asks the scheduler.";

std::string render_list(const std::vector<JobAndStatus>& jobs) {
  std::string text;
  for (const auto& [job, status] : jobs) {
    text += fmt::format("{}  {}  {}  {}  {}\n", job.submitted, job.id, schedulers::name_of(status.state),
                        job.name, job.folder);
  }
  return text;
}

int run_jobs(System& system, bool json) {
  const auto jobs = remembered_jobs(system, most);
  if (json) {
    system.out(render_status_json(jobs));
  } else if (jobs.empty()) {
    system.err("ddlrun: no jobs were submitted with ddlrun yet\n");
  } else {
    system.out(render_list(jobs));
  }
  return 0;
}

}  // namespace

Subcommand jobs_command() {
  Subcommand command;
  command.name = "jobs";
  command.summary = "the jobs that you submitted";
  command.examples = examples;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto json = std::make_shared<bool>(false);
    app.add_flag("--json", *json, "one JSON document (ddlrun.status/1)");
    return [json](System& system) { return run_jobs(system, *json); };
  };
  return command;
}

}  // namespace ddlrun::cli
