// SPDX-License-Identifier: MIT
// `ddlrun jobs`: what the user has submitted with ddlrun, from the own history, and how it stands.
#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/job_history.hpp"
#include "cli/job_status_json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

namespace {

constexpr std::size_t most = 1000;
constexpr std::size_t most_asked = 100;
constexpr std::string_view jobs_examples =
    "  ddlrun jobs           # all that you submitted with ddlrun, newest first\n"
    "  ddlrun jobs --json    # with folders and logs\n\n"
    "The scheduler is asked once, about those that were not over; where it does not answer, they stand as\n"
    "last seen.";

// What the scheduler does not tell is no reason not to list what was submitted.
std::vector<JobAndStatus> read_jobs(System& system) {
  try {
    return read_recent_jobs(system, most, most_asked);
  } catch (const Error& error) {
    system.err(fmt::format("ddlrun: {}; the states are as last seen\n", error.message().what));
    return remembered_jobs(system, most);
  }
}

int run_jobs(System& system, bool json) {
  const auto jobs = read_jobs(system);
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
  command.summary = "the jobs that you submitted";
  command.examples = jobs_examples;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto json = std::make_shared<bool>(false);
    app.add_flag("--json", *json, "one JSON document (ddlrun.status/1)");
    return [json](System& system) { return run_jobs(system, *json); };
  };
  return command;
}

}  // namespace ddlrun::cli
