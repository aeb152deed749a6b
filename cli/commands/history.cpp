// SPDX-License-Identifier: MIT
// `ddlrun history`: the runs that `ddlrun launch` started here, newest first, and how they ended.
#include "base/os/terminal.hpp"
#include "base/os/unix_time.hpp"
#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/option_values.hpp"
#include "launch/history/metrics_file.hpp"
#include "launch/history/run_store.hpp"
#include "launch/history/standing_run.hpp"
#include "launch/history/training.hpp"
#include "schedulers/client/job_query.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ddlrun::cli {

using namespace launch;

namespace {

constexpr std::string_view history_examples = R"(  ddlrun history                # the last 20 runs
  ddlrun history --failed       # only failed runs
  ddlrun history --limit 0 --json
  ddlrun history --prune 90d    # remove runs that began more than 90 days ago)";

constexpr std::string_view history_notes =
    R"(The status of a run that was killed together with its ddlrun is unknown, unless it ran in a job whose
end is known. In `ddlrun report RUN` and `ddlrun replay RUN`, RUN is an id from this list, its beginning,
the id of the job in which it ran (2; of an array 9_1), a run directory, or last. `--prune` removes runs
with their directories, but leaves those of --run-dir and of jobs where they are.)";

struct HistoryOptions {
  std::string limit = "20";
  std::string prune;
  bool failed = false;
  bool json = false;
};

struct ReadRun {
  HistoryRow row;
  RunRecord run;
};

// Of the bundled trainer: from the end of its metrics.
std::optional<double> read_test_accuracy(System& system, const ReadRun& read) {
  constexpr std::uint64_t most_bytes = 64U << 10U;
  try {
    const std::string path = find_metrics_file(system, read.run, read.row.directory).path;
    if (path.empty()) return std::nullopt;
    const auto whole = system.files.read_from(path, 0, 0);
    if (!whole) return std::nullopt;
    const auto end =
        system.files.read_from(path, whole->size - std::min(whole->size, most_bytes), most_bytes);
    return end ? last_test_accuracy(end->bytes) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // of a run whose list entry is readable all the same
  }
}

ReadRun read_history_row(System& system, const ListedRun& listed, std::int64_t now) {
  const std::string& directory = listed.directory;
  HistoryRow damaged;
  damaged.id = listed.id;
  damaged.directory = directory;
  damaged.state = RunState::damaged;
  damaged.problem = "there is no run.json in it: nothing was started";
  if (!system.files.exists(directory + "/run.json")) return {damaged, {}};
  try {
    RunRecord run = read_run(system, directory, false);
    run.id = listed.id;
    HistoryRow row = history_row(run, directory, find_run_state(system, run), now);
    if (row.state == RunState::elsewhere && is_reporting(system, directory)) set_running_on(row, run, now);
    return {std::move(row), std::move(run)};
  } catch (const Error& error) {
    damaged.problem = error.message().what;
    return {damaged, {}};
  }
}

RunJob run_job_of(schedulers::JobState state) {
  using schedulers::JobState;
  if (state == JobState::running) return RunJob::running;
  if (state == JobState::timed_out) return RunJob::timed_out;
  if (state == JobState::cancelled) return RunJob::cancelled;
  return is_over(state) ? RunJob::over : RunJob::unknown;
}

// The end of a job explains only its newest run: behind an older one, the job went on.
std::set<const ReadRun*> find_last_of_jobs(const std::vector<ReadRun>& runs) {
  std::set<std::string> jobs;
  std::set<const ReadRun*> last;
  for (const ReadRun& one : runs)  // newest first
    if (jobs.insert(one.row.job).second) last.insert(&one);
  return last;
}

bool needs_job(const ReadRun& one) {
  return one.row.cancelled || one.row.state == RunState::elsewhere || one.row.state == RunState::unseen;
}

// A job of salloc may go on after Ctrl-C has ended a run.
bool ended_by_user(const ReadRun& one) { return one.run.end && one.run.end->stopped_by == SIGINT; }

// Another cluster may have a job with the same number.
bool ran_in(const RunRecord& run, const schedulers::JobStatus& status) {
  const auto without_domain = [](std::string_view host) { return host.substr(0, host.find('.')); };
  try {
    for (const std::string& of_job : expand_host_list(status.hosts)) {
      const auto is_same = [&](const std::string& host) {
        return without_domain(host) == without_domain(of_job);
      };
      if (is_same(run.host) || std::ranges::any_of(run.hosts, is_same)) return true;
    }
  } catch (const Error&) {
    return false;
  }
  return false;
}

// The jobs of the runs that need theirs, by id: as remembered, else as this machine's scheduler may have
// them. It looks for each job that it has forgotten, so only the newest are asked for.
std::map<std::string, schedulers::JobRef> find_jobs_of_runs(System& system,
                                                            const std::vector<ReadRun>& runs) {
  constexpr std::size_t most_foreign = 20;
  std::map<std::string, schedulers::JobRef> known;
  std::set<std::string> foreign;
  for (const ReadRun& one : runs) {
    if (!needs_job(one) || one.row.job.empty() || known.contains(one.row.job)) continue;
    if (auto job = schedulers::find_remembered_job(system, one.row.job))
      known.emplace(one.row.job, *std::move(job));
    else if (foreign.size() < most_foreign && !ended_by_user(one))
      foreign.insert(one.row.job);
  }
  for (schedulers::JobRef& job : schedulers::find_foreign_jobs(system, {foreign.begin(), foreign.end()}))
    known.emplace(job.id, std::move(job));
  return known;
}

// Whether the end of the job says how the run ended.
bool explains_end(const ReadRun& one, const schedulers::JobRef& job, bool is_last) {
  if (is_last || !is_over(job.last.state)) return true;
  return job.submitted_here() && one.row.state == RunState::ended;
}

// What only a job shows: whether a run was stopped at a time limit, how one ended that was killed together
// with its ddlrun, and whether it runs on another host. One query covers all jobs whose end is not recorded
// yet.
void add_jobs(System& system, std::vector<ReadRun>& runs, std::int64_t now) {
  auto known = find_jobs_of_runs(system, runs);
  std::vector<std::string> asked;
  std::vector<schedulers::JobRef> open;
  for (const auto& [id, job] : known) {
    if (is_over(job.last.state)) continue;
    asked.push_back(id);
    open.push_back(job);
  }
  schedulers::UnreachableSchedulers unreachable;
  if (!open.empty()) {
    const auto states = read_job_states(system, open, unreachable, schedulers::NodeList::left_out);
    for (std::size_t i = 0; i < open.size(); ++i) known.at(asked[i]).last = states[i];
  }
  const auto last = find_last_of_jobs(runs);
  for (ReadRun& one : runs) {
    const auto job = known.find(one.row.job);
    if (job == known.end() || !needs_job(one)) continue;
    const schedulers::JobStatus& status = job->second.last;
    if (!job->second.submitted_here() && (ended_by_user(one) || !ran_in(one.run, status))) continue;
    const bool explains = explains_end(one, job->second, last.contains(&one));
    add_job(one.row, one.run, explains ? run_job_of(status.state) : RunJob::over,
            explains ? status.explained : "", now);
  }
  warn_of_unreachable(system, unreachable);
}

std::size_t columns_of_screen(System& system) {
  const bool is_screen = system.terminal != nullptr && system.environment.stdout_is_terminal;
  return is_screen ? static_cast<std::size_t>(system.terminal->size().columns) : std::string::npos;
}

int run_history(System& system, const HistoryOptions& options) {
  const std::uint64_t limit = parse_limit_option(options.limit);
  const std::int64_t now = unix_seconds(system);
  std::vector<ReadRun> runs;
  std::size_t left_out = 0;
  if (!options.prune.empty()) {
    const std::size_t removed = prune_runs(system, now - parse_age_option("--prune", options.prune));
    system.err(fmt::format("ddlrun: {} run{} removed\n", removed, removed == 1 ? "" : "s"));
    return 0;
  }
  for (const ListedRun& listed : list_runs(system)) {
    const bool is_enough = limit > 0 && runs.size() == limit && !options.failed;
    left_out += is_enough ? 1 : 0;
    if (!is_enough) runs.push_back(read_history_row(system, listed, now));
  }
  add_jobs(system, runs, now);
  std::vector<HistoryRow> rows;
  for (ReadRun& run : runs) {
    if (options.failed && !run.row.failed()) continue;
    if (limit > 0 && rows.size() == limit) {
      ++left_out;
      continue;
    }
    if (run.row.state != RunState::damaged) run.row.test_accuracy = read_test_accuracy(system, run);
    rows.push_back(std::move(run.row));
  }
  if (options.json) {
    system.out(render_history_json(rows));
    return 0;
  }
  if (rows.empty())
    system.err(options.failed ? "ddlrun: no run failed\n" : "ddlrun: nothing was launched yet\n");
  else
    system.out(render_history_table(rows, columns_of_screen(system)));
  if (left_out > 0)
    system.err(fmt::format("ddlrun: older runs are not shown: {} (--limit 0; --prune 90d removes old ones)\n",
                           left_out));
  system.err("ddlrun: jobs that were handed to a scheduler: ddlrun jobs\n");
  return 0;
}

}  // namespace

Subcommand history_command() {
  Subcommand command;
  command.name = "history";
  command.summary = "list the runs that launch started, and how they ended";
  command.examples = history_examples;
  command.notes = history_notes;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<HistoryOptions>();
    app.add_option("--limit", options->limit, "show at most the N newest runs (20); 0: all")->type_name("N");
    app.add_flag("--failed", options->failed, "show only runs that failed or whose end is unknown");
    app.add_option("--prune", options->prune, "remove runs older than AGE: 12h, 90d, 8w")->type_name("AGE");
    app.add_flag("--json", options->json, "print one JSON document (ddlrun.history/1)");
    return [options](System& system) { return run_history(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
