// SPDX-License-Identifier: MIT
#include "topology/sources/slurm_step.hpp"

#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "topology/sources/allocation.hpp"
#include "topology/sources/job_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::topology {

namespace {

constexpr unsigned steps_at_once = 32;
// As long as ssh of doctor waits for a connection. So long slurmctld keeps a step that has no resources.
constexpr int step_start_seconds = 5;
// A slurmd that is frozen answers nothing: srun alone would wait for a multiple of MessageTimeout.
constexpr std::chrono::seconds step_limit{step_start_seconds + 2};

// In the order of srun(1). SLURM_CPUS_PER_TASK confines the step to so many CPUs (--exact), SLURM_LABELIO
// puts a number in front of each line, SLURM_EXCLUSIVE waits for other steps to end.
constexpr std::array step_variables{"SLURM_CPUS_PER_GPU",    "SLURM_CPUS_PER_TASK",
                                    "SRUN_CPUS_PER_TASK",    "SLURM_DISTRIBUTION",
                                    "SLURM_EXACT",           "SLURM_EXCLUSIVE",
                                    "SLURM_GPU_BIND",        "SLURM_GPUS",
                                    "SLURM_GPUS_PER_TASK",   "SLURM_HINT",
                                    "SLURM_HOSTFILE",        "SLURM_LABELIO",
                                    "SLURM_MEM_PER_CPU",     "SLURM_MEM_PER_GPU",
                                    "SLURM_MEM_PER_NODE",    "SLURM_MULTI_PROG",
                                    "SLURM_NTASKS_PER_GPU",  "SLURM_NTASKS_PER_NODE",
                                    "SLURM_NTASKS_PER_TRES", "SLURM_STDERRMODE",
                                    "SLURM_STDINMODE",       "SLURM_STDOUTMODE",
                                    "SLURM_TRES_PER_TASK"};

bool is_allocated(System& system, const std::vector<std::string>& hosts) {
  try {
    const auto given = find_allocation(system);
    return given && std::ranges::all_of(hosts, [&](const std::string& host) {
             return std::ranges::find(given->hosts, host) != given->hosts.end();
           });
  } catch (const Error&) {  // a node list that cannot be read is no way to a host
    return false;
  }
}

// Slurm 22.05 gives a step of one task on one node the GPUs of one task, or refuses it as it lacks those of
// the other nodes. No option of the step requests all GPUs that the job has on a node.
bool counts_gpus_by_task_or_job(const Environment& environment) {
  return environment.variables.contains("SLURM_GPUS") ||
         environment.variables.contains("SLURM_GPUS_PER_TASK") ||
         environment.variables.contains("SLURM_NTASKS_PER_GPU") ||
         environment.get("SLURM_TRES_PER_TASK").find("gpu") != std::string::npos;
}

ProcessLimits step_limits() {
  ProcessLimits limits;
  limits.timeout = step_limit;
  limits.output_bytes = 64u << 10;
  return limits;
}

std::string reason_of_srun(const ProcessResult& result) {
  if (!result.start_error.empty()) return "srun: " + result.start_error;
  if (result.timed_out) return fmt::format("srun starts nothing within {} s", step_limit.count());
  std::string last;
  for (const std::string_view line : split(result.err, '\n'))
    if (!trim(line).empty()) last = printable(trim(line), 200);
  return last.empty() ? fmt::format("srun ends with status {}", result.exit_status) : last;
}

// A step for each host. Where the first of them all fail, no more are tried: slurmctld may not answer.
void try_each_host(System& system, const std::vector<std::string>& names, StepHosts& found) {
  for (std::size_t first = 0; first < names.size(); first += steps_at_once) {
    const std::size_t end = std::min<std::size_t>(names.size(), first + steps_at_once);
    std::vector<Command> commands;
    for (std::size_t i = first; i < end; ++i)
      commands.push_back(plan_trial_step(system.environment, {names[i]}));
    const auto results = system.processes.run_many(commands, step_limits(), steps_at_once);
    for (std::size_t i = first; i < end; ++i) {
      if (results[i - first].ok())
        found.reached.insert(names[i]);
      else
        found.failures.emplace(names[i], reason_of_srun(results[i - first]));
    }
    if (!found.reached.empty()) continue;
    for (std::size_t i = end; i < names.size(); ++i)
      found.failures.emplace(names[i], "not tried, as srun starts no step on the hosts before it");
    return;
  }
}

// One line for all hosts, with the reason of the first.
void report_step_failures(System& system, const StepHosts& found) {
  if (found.failures.empty()) return;
  std::vector<std::string> names;
  for (const auto& [host, reason] : found.failures) names.push_back(host);
  system.err(fmt::format("ddlrun: srun starts no step on {} ({}): ssh is used there\n",
                         printable(fold_host_list(names), 200), found.failures.begin()->second));
}

}  // namespace

bool excludes_slurm(std::string_view plm) {
  if (plm.empty()) return false;
  const bool is_named = plm.find("slurm") != std::string_view::npos;
  return plm.starts_with('^') ? is_named : !is_named;
}

bool makes_mpirun_use_ssh(const Environment& environment) {
  return std::ranges::any_of(std::array{"OMPI_MCA_plm", "PRTE_MCA_plm"},
                             [&](const char* name) { return excludes_slurm(environment.get(name)); });
}

bool has_slurm_path(System& system, const std::vector<std::string>& hosts) {
  const Environment& environment = system.environment;
  if (environment.get("SLURM_JOB_ID").empty() || environment.get("SLURM_JOB_NODELIST").empty()) return false;
  const bool all_here =
      std::ranges::all_of(hosts, [&](const std::string& host) { return is_this_host(environment, host); });
  return !all_here && is_allocated(system, hosts) && !makes_mpirun_use_ssh(environment) &&
         !counts_gpus_by_task_or_job(environment) && !find_program(system, "srun").empty();
}

StepHosts find_step_hosts(System& system, const std::vector<std::string>& hosts) {
  StepHosts found;
  if (!has_slurm_path(system, hosts)) return found;
  const std::set<std::string> unique(hosts.begin(), hosts.end());
  const std::vector<std::string> names(unique.begin(), unique.end());
  const ProcessResult all = system.processes.run(plan_trial_step(system.environment, names), step_limits());
  if (all.ok()) {
    found.reached = unique;
    return found;
  }
  if (names.size() == 1) {
    found.failures.emplace(names.front(), reason_of_srun(all));
  } else {
    try_each_host(system, names, found);
  }
  report_step_failures(system, found);
  return found;
}

std::vector<std::string> find_step_variables(const EnvVars& environment) {
  std::vector<std::string> names;
  for (const char* name : step_variables)
    if (environment.contains(name)) names.emplace_back(name);
  return names;
}

const std::vector<std::string>& step_options() {
  // --export=ALL: sbatch --export=NONE would leave out the environment.
  static const std::vector<std::string> options{"--overlap",  "--quiet",         "--mem=0",
                                                "--mpi=none", "--cpu-bind=none", "--export=ALL"};
  return options;
}

Command plan_step_command(const std::vector<std::string>& left_out, const std::vector<std::string>& hosts) {
  Command command = env_without(left_out);
  const std::string count = fmt::format("{}", hosts.size());
  command.emplace_back("srun");
  command.insert(command.end(), step_options().begin(), step_options().end());
  command.insert(command.end(), {"--nodes=" + count, "--ntasks=" + count, "--nodelist=" + join(hosts, ",")});
  return command;
}

Command plan_trial_step(const Environment& environment, const std::vector<std::string>& hosts) {
  Command command = plan_step_command(find_step_variables(environment.variables), hosts);
  command.insert(command.end(), {fmt::format("--immediate={}", step_start_seconds), "true"});
  return command;
}

}  // namespace ddlrun::topology
