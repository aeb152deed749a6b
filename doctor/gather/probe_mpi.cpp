// SPDX-License-Identifier: MIT
#include "doctor/gather/probe_mpi.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_mapped_names = 256;

ProcessLimits mpirun_limits() {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(60);
  limits.output_bytes = 4u << 20;
  return limits;
}

bool is_telling(std::string_view line) {
  const auto has = [&](std::string_view part) { return line.find(part) != std::string_view::npos; };
  return line.find_first_not_of("-=* \t") != std::string_view::npos && !has("Warning: Permanently added");
}

// The first lines with content; Open MPI frames its messages with dashes.
std::string words_of_mpirun(const ProcessResult& result) {
  if (!result.start_error.empty()) return "mpirun: " + result.start_error;
  std::vector<std::string> lines;
  for (const std::string& stream : {result.err, result.out}) {
    for (const std::string_view line : split(stream, '\n')) {
      if (is_telling(line) && lines.size() < 4) lines.push_back(printable(trim(line), 160));
    }
  }
  if (result.timed_out) lines.insert(lines.begin(), "no end within 60 s");
  return lines.empty() ? fmt::format("mpirun ended with {} and printed nothing", result.exit_status)
                       : join(lines, " / ");
}

std::string seconds_since(std::chrono::steady_clock::time_point begin) {
  return fmt::format("{:.3f}",
                     std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

// {"schema":"ddl-train.allreduce/1","ranks":4,...,"seconds":0.000123}: a number behind a key of our own line.
std::string number_behind(std::string_view line, std::string_view key) {
  const std::string wanted = fmt::format("\"{}\":", key);
  const auto at = line.find(wanted);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + wanted.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.e-")));
}

void run_hostname(System& system, const SmokeRun& run, Facts& facts) {
  const Command command = plan_smoke_command(run, {"hostname"});
  facts.set("smoke.command", printable(render_shell(command), 2000));
  const auto begin = std::chrono::steady_clock::now();
  const ProcessResult result = system.processes.run(command, mpirun_limits());
  if (!result.ok()) return facts.set_unknown("smoke.seconds", words_of_mpirun(result));
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  std::uint64_t count = 0;
  for (const std::string_view line : split(result.out, '\n')) {
    const std::string_view name = trim(line);
    if (name.empty()) continue;
    ++count;
    if (seen.insert(name).second && names.size() < most_mapped_names) names.push_back(printable(name, 80));
  }
  facts.set("smoke.count", count);
  facts.set_list("smoke.names", names);
  facts.set("smoke.seconds", seconds_since(begin));
}

void run_allreduce(System& system, const SmokeRun& run, Facts& facts) {
  if (run.trainer.empty())
    return facts.set_unknown("smoke.allreduce.latency", "ddl-train is not at one path on all hosts");
  const auto begin = std::chrono::steady_clock::now();
  const ProcessResult result =
      system.processes.run(plan_smoke_command(run, {run.trainer, "allreduce"}), mpirun_limits());
  if (result.err.find("unable to find the specified executable") != std::string::npos)
    return facts.set_unknown("smoke.allreduce.latency", "ddl-train is not at one path on all hosts");
  const std::string ranks = number_behind(result.out, "ranks"),
                    latency = number_behind(result.out, "seconds");
  if (!result.ok() || ranks.empty() || latency.empty())
    return facts.set_unknown("smoke.allreduce.latency", words_of_mpirun(result));
  facts.set("smoke.allreduce.ranks", ranks);
  facts.set("smoke.allreduce.total_seconds", seconds_since(begin));
  facts.set("smoke.allreduce.latency", latency);
}

}  // namespace

Command plan_smoke_command(const SmokeRun& run, const Command& program) {
  Command command{run.mpirun, "-n", std::to_string(run.hosts.size())};
  if (run.job.allocation_source == "SLURM_JOB_NODELIST" || run.job.allocation_source == "PBS_NODEFILE") {
    command.insert(command.end(), {"--map-by", "ppr:1:node"});  // mpirun takes the hosts from the scheduler
  } else {
    command.insert(command.end(), {"--host", join(run.hosts, ","), "--map-by", "node"});
  }
  // Open MPI 5.0.7 would miss the end of a rank as short as hostname and wait forever (openpmix/prrte#2713).
  command.insert(command.end(), {"--bind-to", "none", "--mca", "odls_base_max_threads", "0"});
  if (!run.job.interface.empty()) {
    for (const char* name : {"btl_tcp_if_include", "oob_tcp_if_include"})
      command.insert(command.end(), {"--mca", name, run.job.interface});
  }
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

Facts probe_mpi(System& system, const SmokeRun& run) {
  Facts facts;
  const auto set = [&](const char* name) { return !system.environment.get(name).empty(); };
  const bool refused =
      system.environment.is_root && !(set("OMPI_ALLOW_RUN_AS_ROOT") && set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"));
  if (run.hosts.empty() || refused) {
    facts.set("smoke.left_out", refused ? "mpirun refuses to run as root: see MPI-09" : "no host answered");
    return facts;
  }
  run_hostname(system, run, facts);
  if (facts.text("smoke.seconds")) run_allreduce(system, run, facts);
  return facts;
}

}  // namespace ddlrun::doctor
