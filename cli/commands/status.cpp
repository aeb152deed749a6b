// SPDX-License-Identifier: MIT
// `ddlrun status [ID...]`: how jobs stand; without an id the user's own recent ones.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/run_ids.hpp"
#include "schedulers/client/failure_summary.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_status_json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

constexpr std::size_t recent = 20;
constexpr std::uint64_t most_unasked_log = 4u << 20;  // of 20 jobs, at once
constexpr std::string_view status_examples =
    R"(  ddlrun status          # your jobs that ddlrun submitted, newest first
  ddlrun status 1234     # any job, also of other users
  ddlrun status --json | jq '.jobs[] | select(.over | not)')";

constexpr std::string_view status_notes =
    R"(Exit status: 0; with IDs, 3 if a job is unknown, 5 if its scheduler does not answer.)";

struct StatusOptions {
  std::vector<std::string> ids;
  bool json = false;
};

std::vector<JobAndStatus> read_asked(System& system, const std::vector<std::string>& ids,
                                     UnreachableSchedulers& unreachable) {
  const auto known = find_jobs(system, ids);
  const auto states = read_job_states(system, known, unreachable);
  std::vector<JobAndStatus> jobs;
  for (std::size_t i = 0; i < known.size(); ++i) {
    jobs.emplace_back(known[i], states[i]);
    JobRef& job = jobs.back().first;
    const bool lacks_name = !job.submitted_here() && states[i].name.empty();
    if (lacks_name && states[i].state != schedulers::JobState::unknown) read_foreign_job(system, job);
  }
  return jobs;
}

int run_status(System& system, const StatusOptions& options) {
  refuse_run_ids(options.ids, "status");
  refuse_job_directories(system, options.ids);
  UnreachableSchedulers unreachable;
  auto jobs = options.ids.empty() ? read_recent_jobs(system, recent, recent, unreachable)
                                  : read_asked(system, options.ids, unreachable);
  warn_of_unreachable(system, unreachable);
  int status = 0;
  for (auto& [job, state] : jobs) {
    add_cause(system, job, state, options.ids.empty() ? most_unasked_log : UINT64_MAX);
    add_run_times(system, job, state);
    if (options.ids.empty()) continue;
    const auto no_answer = unreachable.find(job.scheduler);
    if (no_answer != unreachable.end()) {
      if (!schedulers::is_over(state.state)) status = exit_code(no_answer->second.kind());
      continue;
    }
    if (state.state != schedulers::JobState::unknown) continue;
    const Error unknown = unknown_job_error(job, state);
    status = exit_code(unknown.kind());
    system.err(render_error("ddlrun", unknown.message()));
  }
  if (options.json) {
    system.out(render_status_json(jobs));
  } else if (jobs.empty()) {
    system.err("ddlrun: no jobs were submitted with ddlrun yet; runs of ddlrun launch: ddlrun history\n");
  } else {
    system.out(render_status_table(jobs));
  }
  return status;
}

}  // namespace

Subcommand status_command() {
  Subcommand command;
  command.name = "status";
  command.summary = "show the state of jobs, and why they wait";
  command.examples = status_examples;
  command.notes = status_notes;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<StatusOptions>();
    app.add_option("ID", options->ids, "job ids, or last; default: your own recent jobs");
    app.add_flag("--json", options->json, "print one JSON document (ddlrun.status/1)");
    return [options](System& system) { return run_status(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
