// SPDX-License-Identifier: MIT
#include "bench/scaling/bench_scaling.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ddlrun::bench_report {

namespace {

using bench_report::TrainRun;

std::string scaling_run_name(const ScalingRun& run) {
  return fmt::format("{} rank{} on {} host{}", run.ranks, run.ranks == 1 ? "" : "s", run.hosts,
                     run.hosts == 1 ? "" : "s");
}

// The message of the run that failed: from its first error on.
std::string error_of(const std::string& err) {
  const auto at = err.find(": error: ");
  const auto start = at == std::string::npos ? std::string::npos : err.rfind('\n', at);
  return at == std::string::npos ? err.substr(err.size() - std::min<std::size_t>(err.size(), 2000))
                                 : err.substr(start == std::string::npos ? 0 : start + 1, 2000);
}

TrainRun run_one_scaling(System& system, const ScalingRequest& request, const ScalingRun& run,
                         std::size_t number, std::size_t of) {
  const Command command = scaling_command(system.environment, request, run);
  system.err(fmt::format("ddlrun: {} of {}: {} ...\n", number, of, scaling_run_name(run)));
  const ProcessResult result = run_bench_child(system, command, scaling_run_name(run));
  TrainRun found = bench_report::parse_train_summary(result.out, scaling_run_name(run));
  found.hosts = run.hosts;
  system.err(fmt::format("ddlrun: {}: {:.0f} images/s, after {:.0f} s\n", scaling_run_name(run),
                         found.images_per_second, static_cast<double>(result.elapsed.count()) / 1e3));
  return found;
}

// The user's command with one batch for all runs.
std::string render_retry(const ScalingRequest& request, std::size_t batch) {
  Command command = {"ddlrun", "bench", "scaling"};
  if (!request.hosts.empty()) command.push_back(join(request.hosts, ","));
  std::vector<std::string> counts;
  for (const ScalingRun& run : request.plan.runs) counts.push_back(fmt::format("{}", run.ranks));
  command.insert(command.end(), {"--ranks", join(counts, ",")});
  command.insert(command.end(), request.launch_options.begin(), request.launch_options.end());
  command.emplace_back("--");
  command.insert(command.end(), request.given_words.begin(), request.given_words.end());
  const std::vector<std::string> same = batch_words(request.given_words, batch);
  command.insert(command.end(), same.begin(), same.end());
  return render_shell(command);
}

}  // namespace

ProcessResult run_bench_child(System& system, const Command& command, const std::string& name) {
  ProcessResult result = system.processes.run(command, {});
  if (result.ok()) return result;
  system.err(error_of(result.err));
  throw Error(ErrorKind::request, {fmt::format("{}: ended with status {}", name, result.exit_status),
                                   result.start_error, render_shell(command)});
}

Command scaling_command(const Environment& environment, const ScalingRequest& request,
                        const ScalingRun& run) {
  Command command = {environment.executable, "launch", fmt::format("{}x{}", run.ranks_a_host, run.hosts)};
  if (!request.hosts.empty())
    command.push_back(
        join(std::vector<std::string>(request.hosts.begin(), request.hosts.begin() + run.hosts), ","));
  command.insert(command.end(), request.launch_options.begin(), request.launch_options.end());
  if (!request.cores_given)
    command.insert(command.end(), {"--cores-per-rank", fmt::format("{}", request.plan.cores_a_rank)});
  command.emplace_back("--");
  command.insert(command.end(), request.trainer_words.begin(), request.trainer_words.end());
  return command;
}

bench_report::Scaling run_scaling(System& system, ScalingRequest request) {
  std::vector<std::optional<TrainRun>> best(request.plan.runs.size());
  const std::vector<std::size_t> order = order_scaling_runs(request.plan, request.given_words);
  std::size_t number = 0;
  std::size_t smallest = 0;
  for (int round = 0; round < request.repeat; ++round) {
    for (const std::size_t i : order) {
      TrainRun run = run_one_scaling(system, request, request.plan.runs[i], ++number,
                                     best.size() * static_cast<std::size_t>(request.repeat));
      if (number == 1 && leaves_batch_open(request.given_words)) {
        const std::vector<std::string> batch = batch_words(request.given_words, batch_a_rank(run));
        request.trainer_words.insert(request.trainer_words.end(), batch.begin(), batch.end());
      }
      smallest = number == 1 ? batch_a_rank(run) : std::min(smallest, batch_a_rank(run));
      if (!best[i] || run.images_per_second > best[i]->images_per_second) best[i] = std::move(run);
    }
  }
  std::vector<TrainRun> runs;
  for (const auto& run : best) runs.push_back(*run);
  return bench_report::compare_runs(
      runs, request.hosts.empty() ? system.environment.host_name : fold_host_list(request.hosts),
      render_retry(request, smallest));
}

}  // namespace ddlrun::bench_report
