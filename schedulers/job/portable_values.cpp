// SPDX-License-Identifier: MIT
// Settings that the chosen scheduler cannot express, reported with their places. Rendering refuses the
// same, but one at a time and without a place.
#include "base/text/text.hpp"
#include "schedulers/job/job_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

// "cpu_type=knl", several joined by ':'; none of those that the shape sets.
bool are_chunk_resources(std::string_view text) {
  constexpr std::array taken{"ncpus", "mpiprocs", "ompthreads", "ngpus", "gpu_type", "mem", "host"};
  for (const std::string_view part : split(text, ':')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || !is_name(NameKind::plain, part.substr(equals + 1))) return false;
    const std::string_view name = part.substr(0, equals);
    if (!is_name(NameKind::plain, name) || std::find(taken.begin(), taken.end(), name) != taken.end())
      return false;
  }
  return true;
}

void check_constraint(SettingReader& reader, const JobSpec& job) {
  if (job.constraint.empty()) return;
  if (job.scheduler == SchedulerKind::torque && !is_name(NameKind::plain, job.constraint)) {
    reader.add_error("constraint",
                     fmt::format("constraint '{}': Torque accepts one property of a node", job.constraint),
                     "knl");
  }
  if (job.scheduler == SchedulerKind::pbs && !are_chunk_resources(job.constraint)) {
    reader.add_error(
        "constraint",
        fmt::format("constraint '{}': PBS accepts NAME=VALUE, but no resource that the shape sets",
                    job.constraint),
        is_name(NameKind::plain, job.constraint) ? "cpu_type=" + job.constraint
                                                 : std::string("cpu_type=knl"));
  }
}

void check_output(SettingReader& reader, const JobSpec& job) {
  std::string path = job.output;
  const std::size_t task = job.array ? path.find("%a") : std::string::npos;
  if (task != std::string::npos) path.erase(task, 2);
  if (path.find_first_of("%:,") == std::string::npos) return;
  reader.add_error(
      "output",
      fmt::format("output '{}': PBS does not accept ':', ',' or '%' in it", printable(job.output, 80)),
      "/scratch/me/run/output.log");
}

void check_array(SettingReader& reader, const JobSpec& job, std::string_view own) {
  if (!job.array) return;
  const ArrayRange& array = *job.array;
  const bool torque = job.scheduler == SchedulerKind::torque;
  if (job.requeue.wanted) {
    reader.leave_out(
        "requeue",
        fmt::format("{} cannot start one task of an array ({}) again", own, reader.origin_of("array")),
        "make each task a job");
  }
  const std::uint64_t tasks = array_tasks(array);
  if (torque && array.step > 1 && tasks > 1000) {
    reader.add_error("array", fmt::format("{} tasks with a step: Torque is named each, at most 1000", tasks),
                     fmt::format("{}-{}", array.first, array.last));
  }
}

void check_torque(SettingReader& reader, const JobSpec& job) {
  if (!job.reservation.empty()) {
    reader.leave_out("reservation", "Torque has no directive for a reservation",
                     "directives: [\"-W x=FLAGS:ADVRES:NAME\"] (Moab, Maui)");
  }
  if (!job.project.empty()) reader.leave_out("project", "Torque has no project", "account: " + job.project);
  if (!job.gpu_type.empty())
    reader.leave_out("gpu_type", "Torque requests GPUs by number only", "constraint: a node's property");
}

void check_pbs(SettingReader& reader, ParsedJob& parsed, std::string_view own) {
  JobSpec& job = parsed.job;
  if (job.cores_per_node == 0 && reader.find("cores_per_node") == nullptr && job.script_template.empty()) {
    parsed.lacks_cores = true;
    reader.add_error_at(fmt::format("{} needs the cores of each node, and cores_per_node is not set", own),
                        reader.origin_of("scheduler"), "cores_per_node: 68   # or --cores-per-node 68");
  }
  if (!job.qos.empty())
    reader.leave_out("qos", fmt::format("qos is Slurm's, {} has none", own),
                     "use a queue that gives the same");
  check_constraint(reader, job);
  check_output(reader, job);
  check_array(reader, job, own);
  if (job.scheduler == SchedulerKind::torque) return check_torque(reader, job);
  if (job.reservation.empty() || job.queue.empty()) return;
  if (reader.origin_of("queue").starts_with("profile ")) {
    parsed.remarks.push_back(
        fmt::format("queue: the reservation {} instead of {}", job.reservation, job.queue));
    job.queue.clear();
  } else {
    reader.leave_out(
        "queue",
        fmt::format("a reservation of PBS ({}) is a queue of its own", reader.origin_of("reservation")),
        "reservation");
  }
}

void check_local(SettingReader& reader, ParsedJob& parsed) {
  const JobSpec& job = parsed.job;
  for (const std::string_view key : {"array", "dependencies", "reservation", "requeue", "directives"}) {
    const bool asked = key == "requeue" ? job.requeue.wanted : reader.find(key) != nullptr;
    if (asked)
      reader.leave_out(key, fmt::format("{}: no scheduler is there to do it (local)", key), "--slurm, --pbs");
  }
  for (const std::string_view key : {"queue", "account", "qos", "project"}) {
    if (reader.find(key) != nullptr)
      parsed.remarks.push_back(fmt::format("{}: ignored, there is no scheduler (local)", key));
  }
}

// Without a number srun binds each rank to one core, whatever the node has; on a shared node Slurm gives the
// job no more than one core a rank.
void check_slurm_cores(SettingReader& reader, ParsedJob& parsed) {
  const JobSpec& job = parsed.job;
  const bool srun = job.runner == Runner::srun;
  if (job.scheduler != SchedulerKind::slurm || job.runner == Runner::none) return;
  if (job.threads > 0 || reader.find("threads") != nullptr || reader.find("cores_per_node") != nullptr)
    return;
  if (!srun && (job.exclusive || !job.script_template.empty())) return;
  const bool by_gpu = std::any_of(job.directives.begin(), job.directives.end(), [](const std::string& line) {
    return line.starts_with("--cpus-per-gpu") || line.starts_with("--mincpus");
  });
  if (!srun && by_gpu) return;
  parsed.lacks_cores = true;
  const std::string origin = reader.origin_of(srun ? "runner" : "exclusive");
  const bool typed = origin.starts_with("--") || reader.origin_of("dims") == "the command line";
  reader.add_error_at(
      srun ? "runner srun binds each rank to one core: neither threads nor cores_per_node is set"
           : "a shared node (exclusive: no) gives each rank one core: neither threads nor "
             "cores_per_node is set",
      origin,
      typed ? "--cores-per-node 40   # or --threads 10"
            : "cores_per_node: 40   # or threads: 10; --cores-per-node, --threads");
}

}  // namespace

std::string_view scheduler_name(SchedulerKind kind) {
  constexpr std::array<std::string_view, 4> words{"slurm", "pbs", "torque", "local"};
  return words.at(static_cast<std::size_t>(kind));
}

void check_portable_values(SettingReader& reader, ParsedJob& parsed) {
  const JobSpec& job = parsed.job;
  const std::string_view own = scheduler_name(job.scheduler);
  if (job.runner == Runner::srun && job.scheduler != SchedulerKind::slurm) {
    reader.add_error("runner", fmt::format("runner srun is Slurm's, the scheduler is {}", own), "ddlrun");
  }
  check_slurm_cores(reader, parsed);
  if (is_pbs_like(job.scheduler)) check_pbs(reader, parsed, own);
  if (job.scheduler == SchedulerKind::local) check_local(reader, parsed);
}

}  // namespace ddlrun::schedulers
