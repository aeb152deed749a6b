// SPDX-License-Identifier: MIT
// `ddlrun history`: the runs that `ddlrun launch` started here, newest first, and how they ended.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/option_values.hpp"
#include "launch/history/run_store.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

using namespace launch;

namespace {

constexpr std::string_view history_examples = R"(  ddlrun history                # the last 20 runs
  ddlrun history --failed       # only failed runs
  ddlrun history --limit 0 --json
  ddlrun history --prune 90d    # remove runs that began more than 90 days ago)";

constexpr std::string_view history_notes =
    R"(The status of a run that was killed together with its ddlrun is unknown. In `ddlrun report RUN` and
`ddlrun replay RUN`, RUN is an id from this list, its beginning, the id of the job in which it ran (2; of
an array 9_1), a run directory, or last. `--prune` removes runs with their directories, but leaves those of --run-dir and of jobs
where they are.)";

struct HistoryOptions {
  std::string limit = "20";
  std::string prune;
  bool failed = false;
  bool json = false;
};

HistoryRow read_history_row(System& system, const ListedRun& listed, std::int64_t now) {
  const std::string& directory = listed.directory;
  HistoryRow damaged;
  damaged.id = listed.id;
  damaged.directory = directory;
  damaged.state = RunState::damaged;
  damaged.problem = "there is no run.json in it: nothing was started";
  if (!system.files.exists(directory + "/run.json")) return damaged;
  try {
    RunRecord run = read_run(system, directory, false);
    run.id = listed.id;
    return history_row(run, directory, find_run_state(system, run), now);
  } catch (const Error& error) {
    damaged.problem = error.message().what;
    return damaged;
  }
}

int run_history(System& system, const HistoryOptions& options) {
  const std::uint64_t limit = parse_limit_option(options.limit);
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(system.clock.now().time_since_epoch()).count();
  std::vector<HistoryRow> rows;
  std::size_t left_out = 0;
  if (!options.prune.empty()) {
    const std::size_t removed = prune_runs(system, now - parse_age_option("--prune", options.prune));
    system.err(fmt::format("ddlrun: {} run{} removed\n", removed, removed == 1 ? "" : "s"));
    return 0;
  }
  for (const ListedRun& run : list_runs(system)) {
    if (limit > 0 && rows.size() == limit) {
      ++left_out;
      continue;
    }
    HistoryRow row = read_history_row(system, run, now);
    if (!options.failed || row.failed()) rows.push_back(std::move(row));
  }
  if (options.json) {
    system.out(render_history_json(rows));
    return 0;
  }
  if (rows.empty())
    system.err(options.failed ? "ddlrun: no run failed\n" : "ddlrun: nothing was launched yet\n");
  else
    system.out(render_history_table(rows));
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
