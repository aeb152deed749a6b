// SPDX-License-Identifier: MIT
#include "cli/commands/bench_against.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "bench/against/bench_against.hpp"
#include "bench/scaling/bench_plan.hpp"
#include "bench/scaling/busy_cores.hpp"

#include <algorithm>

namespace ddlrun::cli {
namespace {

bench_against::AgainstRequest plan_against(System& system, const AgainstCommand& command) {
  bench_against::AgainstRequest request;
  request.repeat = command.repeat;
  request.launch_words = {command.launch.dims.empty()
                              ? std::to_string(bench_report::default_sum_counts(command.cores).back())
                              : command.launch.dims};
  if (!command.launch.hosts.empty()) request.launch_words.push_back(command.launch.hosts);
  request.launch_words.insert(request.launch_words.end(), command.launch_words.begin(),
                              command.launch_words.end());
  request.bench_words = command.launch.program;
  request.installations = bench_against::find_mpi_installations(system, command.choice);
  return request;
}

}  // namespace

bool writes_json_itself(const std::vector<std::string>& bench_words) {
  return std::any_of(bench_words.begin(), bench_words.end(),
                     [](const std::string& word) { return word.starts_with("--json"); });
}

int run_bench_against(System& system, const AgainstCommand& command) {
  if (command.launch.mpirun != "mpirun" || command.launch.launcher != "auto")
    throw Error(ErrorKind::usage, {"--against chooses mpirun and launcher itself", "--mpirun, --launcher",
                                   "--against all, or --against with the paths of mpirun"});
  if (writes_json_itself(command.launch.program))
    throw Error(ErrorKind::usage, {"with --against the JSON document is one of all runs", "behind --",
                                   "--json FILE before --"});
  const bench_against::AgainstRequest request = plan_against(system, command);
  if (command.launch.dry_run) {
    for (const bench_against::MpiInstallation& mpi : request.installations)
      system.out(render_shell(bench_against::against_command(system.environment, request, mpi)) + "\n");
    return 0;
  }
  const bool to_file = !command.json.empty() && command.json != "-";
  if (to_file) system.files.write(command.json, "");  // what cannot be written is known before the runs
  bench_report::warn_if_busy(system, command.cores);
  const bench_against::AgainstResult result = bench_against::run_against(system, request);
  const std::string json = bench_against::render_against_json(result.runs, result.notes);
  system.out(command.json == "-" ? json : bench_against::render_against_table(result.runs, result.notes));
  if (to_file) system.files.write(command.json, json);
  const bool right = std::all_of(result.runs.begin(), result.runs.end(),
                                 [](const bench_against::SumsOfRun& run) { return run.wrong == 0; });
  return right ? 0 : 1;
}

}  // namespace ddlrun::cli
