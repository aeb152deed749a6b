// SPDX-License-Identifier: MIT
// The scheduler's state. Queried only if it is configured here or if this process runs in a job of it.
//   scheduler.slurm.conf       slurm.conf's path; not known where Slurm is not set up here
//   scheduler.slurm.answer     "ok"; unknown, with sinfo's message, if the controller does not answer
//   scheduler.slurm.states     lines "COUNT STATE", at most 32
//   scheduler.slurm.node.NAME  state of a host of the job; after "|" the reason if it is drained or down
//   scheduler.slurm.kill_wait  KillWait of slurm.conf in seconds, 30 by default
//   scheduler.slurm.mpi        the words of `srun --mpi=list`, inside a job only
//   scheduler.pbs.answer       "ok"; unknown, with qstat's message; not gathered without PBS
//   scheduler.pbs.cores.NAME   processors that the job has on a host, by its name without domain
//   scheduler.pbs.cores        only where they are not known, with the reason
#include "base/text/text.hpp"
#include "doctor/gather/exec_host.hpp"
#include "doctor/gather/libraries.hpp"
#include "doctor/gather/software.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_nodes = 4096;  // one fact each, of the job's own hosts

ProcessLimits short_limits() {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(5);
  limits.output_bytes = 4u << 20;
  return limits;
}

std::string words_of_scheduler(const ProcessResult& result) {
  if (result.timed_out) return "no answer within 5 s";
  if (!result.start_error.empty()) return result.start_error;
  const std::string_view stderr_text = trim(result.err.empty() ? result.out : result.err);
  return stderr_text.empty() ? fmt::format("ended with {}", result.exit_status)
                             : printable(stderr_text.substr(0, stderr_text.find('\n')), 300);
}

std::string slurm_conf(const GatherContext& context) {
  const std::string configured = context.system.environment.get("SLURM_CONF");
  for (const std::string& path :
       {configured, std::string("/etc/slurm/slurm.conf"), std::string("/etc/slurm-llnl/slurm.conf")}) {
    if (!path.empty() && context.system.files.exists(context.root + path)) return path;
  }
  return {};
}

// "n1|drained|bad disk": the states are counted, and those of the job's hosts kept.
void take_states(const GatherContext& context, std::string_view text, Facts& facts) {
  std::set<std::string, std::less<>> wanted;
  for (const std::string& name : context.request.names) wanted.insert(name.substr(0, name.find('.')));
  std::map<std::string, int> counts;
  std::set<std::string> seen;
  std::size_t kept = 0;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = split(line, '|');
    if (parts.size() < 3 || !seen.insert(std::string(parts[0])).second) continue;
    const std::string state = printable(parts[1], 40);
    ++counts[state];
    if (wanted.count(parts[0]) == 0 || ++kept > most_nodes) continue;
    const bool has_reason = parts[2] != "none" && !parts[2].empty();
    facts.set(fmt::format("scheduler.slurm.node.{}", parts[0]),
              has_reason ? state + "|" + printable(parts[2], 120) : state);
  }
  std::vector<std::string> lines;
  for (const auto& [state, count] : counts) {
    if (lines.size() < 32) lines.push_back(fmt::format("{} {}", count, state));
  }
  facts.set_list("scheduler.slurm.states", lines);
}

void ask_slurm(const GatherContext& context, const std::string& conf, Facts& facts) {
  const std::string sinfo = find_in_path(context, "sinfo");
  if (sinfo.empty()) {
    facts.set_unknown("scheduler.slurm.answer", "no sinfo in PATH");
    return;
  }
  const ProcessResult result =
      context.system.processes.run({sinfo, "-N", "-h", "-o", "%N|%T|%E"}, short_limits());
  if (!result.ok()) {
    facts.set_unknown("scheduler.slurm.answer", words_of_scheduler(result));
    return;
  }
  facts.set("scheduler.slurm.answer", "ok");
  take_states(context, result.out, facts);
  std::uint64_t kill_wait = 30;
  const std::string text = read_small(context, conf, 1u << 20).value_or("");
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("KillWait=")) kill_wait = parse_unsigned(trim(line.substr(9))).value_or(kill_wait);
  }
  facts.set("scheduler.slurm.kill_wait", kill_wait);
}

void ask_for_pmi(const GatherContext& context, Facts& facts) {
  const std::string srun = find_in_path(context, "srun");
  if (srun.empty()) {
    facts.set_unknown("scheduler.slurm.mpi", "no srun in PATH");
    return;
  }
  const ProcessResult result = context.system.processes.run({srun, "--mpi=list"}, short_limits());
  std::vector<std::string> kinds;
  for (const std::string& stream : {result.out, result.err}) {  // the stream differs by version
    for (const std::string_view line : split(stream, '\n')) {
      const std::string_view kind = trim(line);
      if (!kind.empty() && kind.size() < 40 && kinds.size() < 32) kinds.push_back(printable(kind));
    }
  }
  facts.set_list("scheduler.slurm.mpi", kinds);
}

void ask_for_cores(const GatherContext& context, const std::string& qstat, const std::string& job,
                   Facts& facts) {
  const ProcessResult result = context.system.processes.run({qstat, "-f", job}, short_limits());
  if (!result.ok()) return facts.set_unknown("scheduler.pbs.cores", words_of_scheduler(result));
  const auto cores = parse_exec_host(result.out);
  if (cores.empty()) facts.set_unknown("scheduler.pbs.cores", "qstat -f shows no exec_host of the job");
  std::size_t kept = 0;
  for (const auto& [host, count] : cores) {
    if (++kept <= most_nodes) facts.set("scheduler.pbs.cores." + printable(host, 80), count);
  }
}

void ask_pbs(const GatherContext& context, Facts& facts) {
  const std::string qstat = find_in_path(context, "qstat");
  std::string problem = "no qstat in PATH";
  if (!qstat.empty()) {
    const ProcessResult result = context.system.processes.run({qstat, "-B"}, short_limits());
    problem = result.ok() ? "" : words_of_scheduler(result);
  }
  const std::string job = context.system.environment.get("PBS_JOBID");
  if (!problem.empty()) {
    facts.set_unknown("scheduler.pbs.answer", problem);
    if (!job.empty()) facts.set_unknown("scheduler.pbs.cores", problem);
    return;
  }
  facts.set("scheduler.pbs.answer", "ok");
  if (!job.empty()) ask_for_cores(context, qstat, job, facts);
}

}  // namespace

void gather_scheduler(const GatherContext& context, Facts& facts) {
  if (!context.request.is_driver_host) return;
  const auto is_set = [&](const char* name) { return context.system.environment.variables.count(name) > 0; };
  const std::string conf = slurm_conf(context);
  if (conf.empty())
    facts.set_unknown("scheduler.slurm.conf", "no slurm.conf here");
  else
    facts.set("scheduler.slurm.conf", conf);
  if (!conf.empty() || is_set("SLURM_JOB_ID")) ask_slurm(context, conf, facts);
  if (is_set("SLURM_JOB_ID")) ask_for_pmi(context, facts);
  if (is_set("PBS_JOBID") || context.system.files.exists(context.root + "/etc/pbs.conf"))
    ask_pbs(context, facts);
}

}  // namespace ddlrun::doctor
