// SPDX-License-Identifier: MIT
// `ddlrun cancel ID...`: ends jobs, and runs of this host; one that is over already is named, and is no
// error.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/run_ids.hpp"
#include "launch/history/cancel_run.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_query.hpp"
#include "schedulers/client/scheduler_access.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

constexpr std::string_view cancel_examples = R"(  ddlrun cancel 1234
  ddlrun cancel 1234 15_3   # a job, and one task of an array
  ddlrun cancel last        # the newest job, or a newer run in no job of ddlrun submit
  ddlrun cancel 20261126-101502-x4Kd2P   # a run of `ddlrun launch` on this host)";

using schedulers::JobState;

// The message for a job that need not be cancelled; "" if it must be. `is_current`: the scheduler has
// answered.
std::string why_not(const JobRef& job, const schedulers::JobStatus& status, bool is_current) {
  if (schedulers::is_over(status.state)) return fmt::format("is over already: {}", name_of(status.state));
  if (status.state != JobState::unknown || !is_current) return {};
  return job.submitted_here() ? "is no longer known to the scheduler" : "";
}

// Returns whether it was alive until now.
bool cancel(System& system, const JobRef& job, const schedulers::JobStatus& status, bool is_current) {
  const std::string over = why_not(job, status, is_current);
  if (!over.empty()) {
    system.err(fmt::format("ddlrun: job {} {}\n", printable(job.id), over));
    return false;
  }
  if (status.state == JobState::unknown && is_current) throw unknown_job_error(job, status);
  const auto scheduler = schedulers::make_scheduler(job.scheduler);
  std::string answer =
      scheduler->read_cancellation(job.id, scheduler_runner(system)(scheduler->cancel_command(job.id)));
  if (answer.rfind(job.id + " ", 0) == 0) answer.erase(0, job.id.size() + 1);  // the message has it already
  system.err(fmt::format("ddlrun: job {} {}\n", printable(job.id), answer.empty() ? "is cancelled" : answer));
  return true;
}

// How they stand now is remembered, so that `ddlrun jobs` is not the last to know.
void remember_cancelled(System& system, const std::vector<JobRef>& jobs) {
  if (jobs.empty()) return;
  try {
    read_job_states(system, jobs);
  } catch (const Error&) {
    return;  // they are cancelled all the same
  }
}

// All are tried; returns the status of the first that could not be cancelled. `by_last`: one was named
// "last".
int cancel_runs(System& system, const std::vector<std::string>& ids, bool by_last) {
  int first = 0;
  for (const std::string& id : ids) {
    try {
      const launch::Cancellation end = launch::cancel_run(system, id);
      system.err(fmt::format("ddlrun: run {} {}\n", printable(id, 300), end.outcome));
      // The newest run may be over while the one that is meant still runs.
      const bool asks = by_last && end.was_over;
      if (const std::string other = asks ? launch::find_other_running(system, id) : ""; !other.empty())
        system.err(fmt::format("ddlrun: run {0} still runs: ddlrun cancel {0}\n", printable(other, 80)));
    } catch (const Error& error) {
      system.err(render_error("ddlrun", error.message()));
      if (first == 0) first = exit_code(error.kind());
    }
  }
  return first;
}

// As cancel_runs().
int cancel_jobs(System& system, const std::vector<std::string>& ids) {
  int first = 0;
  const auto jobs = find_jobs(system, ids);
  // scancel reports nothing about jobs that are over. A qstat that fails does not keep qdel from being tried.
  schedulers::UnreachableSchedulers unreachable;
  const auto states = read_job_states(system, jobs, unreachable);
  warn_of_unreachable(system, unreachable);
  std::vector<JobRef> cancelled;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    try {
      const bool is_current = !unreachable.contains(jobs[i].scheduler);
      if (cancel(system, jobs[i], states[i], is_current)) cancelled.push_back(jobs[i]);
    } catch (const Error& error) {
      system.err(render_error("ddlrun", error.message()));
      if (first == 0) first = exit_code(error.kind());
    }
  }
  remember_cancelled(system, cancelled);
  return first;
}

int run_cancel(System& system, const std::vector<std::string>& ids) {
  if (ids.empty())
    throw Error(ErrorKind::usage, {"cancel which job or run?", "",
                                   "ddlrun cancel ID; ddlrun jobs and ddlrun history list yours"});
  // Another part of a job of plain qsub may go on after the run.
  const auto [runs, jobs] = find_meant_runs(system, ids, PlainJob::passed_over);
  const bool by_last = std::ranges::find(ids, "last") != ids.end();
  const int of_runs = cancel_runs(system, runs, by_last);
  const int of_jobs = jobs.empty() ? 0 : cancel_jobs(system, jobs);
  return of_runs != 0 ? of_runs : of_jobs;
}

}  // namespace

Subcommand cancel_command() {
  Subcommand command;
  command.name = "cancel";
  command.summary = "cancel jobs, or end a running launch";
  command.examples = cancel_examples;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto ids = std::make_shared<std::vector<std::string>>();
    app.add_option(
        "ID", *ids,
        "job ids as printed by ddlrun submit; run ids of ddlrun history; last: the newest job or run");
    return [ids](System& system) { return run_cancel(system, *ids); };
  };
  return command;
}

}  // namespace ddlrun::cli
