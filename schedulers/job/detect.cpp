// SPDX-License-Identifier: MIT
// Which scheduler a machine has, and what they share.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/scheduler_errors.hpp"
#include "schedulers/job/scheduler_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::schedulers {

namespace {

bool tool_output_has(const ProcessResult& answer, std::string_view words) {
  return answer.out.find(words) != std::string::npos || answer.err.find(words) != std::string::npos;
}

// Whose qstat this is: "pbs_version = 23.06.06", "Version: 6.1.2" or the usage of Slurm's wrapper; Grid
// Engine's qsub has other options and is none of ours.
std::optional<SchedulerKind> kind_of_qstat(const CommandRunner& ask) {
  const ProcessResult version = ask({"qstat", "--version"});
  if (tool_output_has(version, "pbs_version") || tool_output_has(version, "PBSPro") ||
      tool_output_has(version, "OpenPBS"))
    return SchedulerKind::pbs;
  for (const std::string_view engine : {"SGE", "UGE", "GE 6", "Grid Engine"})
    if (tool_output_has(version, engine)) return std::nullopt;
  return SchedulerKind::torque;
}

}  // namespace

JobStatus Scheduler::read_details(const JobId& id, const CommandRunner& ask) const {
  return read_states(std::span(&id, 1), ask).at(id);
}

std::unique_ptr<Scheduler> make_scheduler(SchedulerKind kind) {
  switch (kind) {
    case SchedulerKind::slurm:
      return make_slurm();
    case SchedulerKind::pbs:
      return make_pbs();
    case SchedulerKind::torque:
      return make_torque();
    case SchedulerKind::local:
      break;
  }
  return make_local();
}

std::optional<SchedulerKind> detect_scheduler(const std::function<bool(const std::string& tool)>& found,
                                              const EnvVars& environment, const CommandRunner& ask) {
  const bool slurm = found("sbatch");
  const bool pbs = found("qsub") && found("qstat");
  // Inside a job: the scheduler that started it. Slurm's PBS plug-in sets PBS_JOBID too, so Slurm is looked
  // for first.
  if (slurm && environment.contains("SLURM_JOB_ID")) return SchedulerKind::slurm;
  if (!pbs) return slurm ? std::optional(SchedulerKind::slurm) : std::nullopt;
  const auto kind = kind_of_qstat(ask);
  if (!slurm) return kind;
  // Beside sbatch anything but PBS itself is Slurm's imitation of Torque.
  if (kind != SchedulerKind::pbs) return SchedulerKind::slurm;
  if (environment.contains("PBS_JOBID")) return SchedulerKind::pbs;
  // Both are installed: the one that answers.
  if (ask({"scontrol", "ping"}).ok()) return SchedulerKind::slurm;
  return ask({"qstat", "-B"}).ok() ? SchedulerKind::pbs : SchedulerKind::slurm;
}

void throw_query_error(std::string_view tool, const ProcessResult& answer) {
  if (!answer.start_error.empty()) throw_scheduler_error(tool, answer, {});
  const std::string words = reported_text(answer);
  const std::string reason = answer.timed_out ? "no answer in time"
                             : words.empty()
                                 ? fmt::format("exit status {}, without a message", answer.exit_status)
                                 : fmt::format("\"{}\"", words);
  throw Error(
      ErrorKind::unreachable,
      {fmt::format("the scheduler does not report the state of the job: {}", reason), std::string(tool),
       "try again in a minute, or on a login node; running jobs are not affected"});
}

JobStatus unknown_job(const JobId& id, std::string explained) {
  JobStatus status;
  status.id = id;
  status.explained = std::move(explained);
  return status;
}

std::vector<std::string> variables_with(const EnvVars& environment,
                                        std::span<const std::string_view> prefixes,
                                        std::span<const std::string_view> kept) {
  std::vector<std::string> names;
  for (const auto& [name, value] : environment) {
    const auto begins = [&name = name](std::string_view prefix) {
      return name.compare(0, prefix.size(), prefix) == 0;
    };
    const bool wanted = std::any_of(prefixes.begin(), prefixes.end(), begins);
    if (wanted && std::find(kept.begin(), kept.end(), name) == kept.end()) names.push_back(name);
  }
  return names;
}

}  // namespace ddlrun::schedulers
