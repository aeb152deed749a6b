// SPDX-License-Identifier: MIT
#include "doctor/gather/probe_stress.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace ddlrun::doctor {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;
constexpr std::size_t most_stressed_hosts = 64;
constexpr std::uint64_t vector_bytes = 16u << 20;
constexpr unsigned pairs_at_once = 4;  // mpirun needs some processor here too

ProcessLimits stress_limits() {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(60);
  limits.output_bytes = 1u << 20;
  return limits;
}

Command plan_allreduce(const SmokeRun& run, std::vector<std::string> hosts) {
  SmokeRun part = run;
  part.hosts = std::move(hosts);
  return plan_smoke_command(
      part, {run.trainer, "allreduce", "--bytes", std::to_string(vector_bytes), "--times", "5"});
}

// {"schema":"ddl-train.allreduce/1",...,"seconds":0.0123} -> bus bandwidth in MB/s
std::optional<std::uint64_t> read_speed(const ProcessResult& result, std::size_t ranks) {
  constexpr std::string_view key = "\"seconds\":";
  const std::size_t at = result.out.find(key);
  if (!result.ok() || at == std::string::npos) return std::nullopt;
  double seconds = 0;
  std::from_chars(result.out.data() + at + key.size(), result.out.data() + result.out.size(), seconds);
  if (!(seconds > 1e-9)) return std::nullopt;
  const double n = static_cast<double>(ranks);
  return static_cast<std::uint64_t>(2 * (n - 1) / n * static_cast<double>(vector_bytes) / seconds / 1e6 +
                                    0.5);
}

struct PairSpeed {
  Pair pair;
  std::uint64_t speed = 0;
};

void run_round(System& system, const SmokeRun& run, const std::vector<Pair>& round,
               std::vector<PairSpeed>& speeds) {
  std::vector<Command> commands;
  for (const auto& [a, b] : round) commands.push_back(plan_allreduce(run, {run.hosts[a], run.hosts[b]}));
  const auto results = system.processes.run_many(commands, stress_limits(), pairs_at_once);
  for (std::size_t i = 0; i < round.size(); ++i)
    speeds.push_back({round[i], read_speed(results[i], 2).value_or(0)});
}

// A pair that was slow beside others has a second try alone: on busy machines one run proves little.
void try_slow_again(System& system, const SmokeRun& run, std::vector<PairSpeed>& speeds) {
  std::vector<std::uint64_t> sorted;
  for (const PairSpeed& pair : speeds) sorted.push_back(pair.speed);
  std::sort(sorted.begin(), sorted.end());
  const std::uint64_t median = sorted[sorted.size() / 2];
  for (PairSpeed& pair : speeds) {
    if (pair.speed * 2 >= median && pair.speed > 0) continue;
    const Command command = plan_allreduce(run, {run.hosts[pair.pair.first], run.hosts[pair.pair.second]});
    pair.speed =
        std::max(pair.speed, read_speed(system.processes.run(command, stress_limits()), 2).value_or(0));
  }
}

// Inside a scheduler's allocation mpirun takes all of its hosts; pairs cannot be named there.
bool takes_hosts_by_name(const Job& job) {
  return job.allocation_source != "SLURM_JOB_NODELIST" && job.allocation_source != "PBS_NODEFILE";
}

}  // namespace

std::vector<std::vector<Pair>> plan_rounds(std::size_t count) {
  std::vector<std::vector<Pair>> rounds;
  const auto add = [&](std::size_t round, std::size_t a, std::size_t b) {
    if (rounds.size() <= round) rounds.resize(round + 1);
    rounds[round].emplace_back(a, b);
  };
  for (std::size_t a = 0; a + 1 < count; ++a) add(a % 2, a, a + 1);
  if (count > 2) add(count % 2 == 0 ? 1 : 2, count - 1, 0);  // the ring is closed
  return rounds;
}

Facts probe_stress(System& system, const SmokeRun& smoke) {
  Facts facts;
  SmokeRun run = smoke;
  if (run.hosts.size() > most_stressed_hosts) run.hosts.resize(most_stressed_hosts);
  if (run.hosts.size() < 2) {
    facts.set_unknown("stress.all", "fewer than two hosts answered");
    return facts;
  }
  if (run.trainer.empty()) {
    facts.set_unknown("stress.all", "ddl-train is not at one path on all hosts");
    return facts;
  }
  facts.set("stress.bytes", vector_bytes);
  facts.set("stress.hosts", run.hosts.size());
  const auto all =
      read_speed(system.processes.run(plan_allreduce(run, run.hosts), stress_limits()), run.hosts.size());
  if (!all) {
    facts.set_unknown("stress.all", "the allreduce over all hosts failed (MPI-06)");
    return facts;
  }
  facts.set("stress.all", *all);
  if (!takes_hosts_by_name(run.job)) return facts;
  std::vector<PairSpeed> speeds;
  for (const auto& round : plan_rounds(run.hosts.size())) run_round(system, run, round, speeds);
  try_slow_again(system, run, speeds);
  std::vector<std::string> lines;
  for (const auto& [pair, speed] : speeds) {
    lines.push_back(fmt::format("{} {} {}", run.hosts[pair.first], run.hosts[pair.second], speed));
  }
  facts.set_list("stress.pairs", lines);
  return facts;
}

}  // namespace ddlrun::doctor
