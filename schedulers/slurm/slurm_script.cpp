// SPDX-License-Identifier: MIT
// Slurm's directives. GPUs are requested by node and never bound to ranks: a rank that does not see its
// peers' GPUs cannot use NVLink to them.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/script_forms.hpp"

#include <fmt/format.h>

namespace ddlrun::schedulers {

namespace {

std::string slurm_name(std::string_view text, std::string_view key) {
  return directive_value(ValueKind::name, text, key);
}

// In its own names '%' begins a pattern; the job's name is none of those allowed, since it could hold "..".
std::string slurm_output(const JobSpec& job, const JobDirectory& dir) {
  if (job.output.empty()) {
    std::string path;
    for (const char c : directive_value(ValueKind::path, dir.path, "the job's directory")) {
      path += c;
      if (c == '%') path += '%';
    }
    return path + (job.array ? "/output.%a.log" : "/output.log");
  }
  const std::string path = output_path(job, dir);
  for (std::size_t at = path.find('%'); at != std::string::npos; at = path.find('%', at + 2)) {
    const bool known =
        at + 1 < path.size() && std::string_view("%jAaNu").find(path[at + 1]) != std::string::npos;
    if (known) continue;
    throw Error(ErrorKind::request,
                {fmt::format("output: '{}' is no pattern for a job's output", printable(path.substr(at, 2))),
                 "output", "%j the job id, %A_%a of an array, %% a percent sign"});
  }
  return path;
}

void add_tasks(std::vector<std::string>& lines, const JobSpec& job) {
  lines.push_back(fmt::format("--nodes={}", job.nodes()));
  if (job.shared_cpus > 0) {
    // One task has all CPUs of a node, and launch starts the ranks on them. Of as many tasks as ranks Slurm
    // 24.11 keeps the job in the queue, with --overcommit too (22.05 runs it).
    lines.emplace_back("--ntasks-per-node=1");
    lines.push_back(fmt::format("--cpus-per-task={}", job.shared_cpus));
    return;
  }
  lines.push_back(fmt::format("--ntasks-per-node={}", job.ranks_per_node()));
  // Slurm counts hardware threads where a core has several.
  if (job.threads > 0)
    lines.push_back(
        fmt::format("--cpus-per-task={}", std::uint64_t{job.threads} * job.hardware_threads_per_core));
}

void add_shape(std::vector<std::string>& lines, const JobSpec& job) {
  add_tasks(lines, job);
  if (job.gpus_per_node > 0) {
    const std::string type = job.gpu_type.empty() ? "" : slurm_name(job.gpu_type, "gpu_type") + ":";
    lines.push_back(fmt::format("--gpus-per-node={}{}", type, job.gpus_per_node));
  }
  if (job.memory_bytes > 0) lines.push_back("--mem=" + render_memory(job.memory_bytes, "M", "G"));
  if (job.exclusive) lines.emplace_back("--exclusive");
  if (!job.hosts.empty())
    lines.push_back("--nodelist=" + directive_value(ValueKind::hosts, join(job.hosts, ","), "hosts"));
  if (!job.constraint.empty())
    lines.push_back("--constraint=" + directive_value(ValueKind::resource, job.constraint, "constraint"));
}

// "normal,debug": the first that is free.
std::string partitions(const std::string& queue) {
  for (const std::string_view name : split(queue, ',')) slurm_name(name, "queue");
  return queue;
}

void add_place_and_payer(std::vector<std::string>& lines, const JobSpec& job,
                         const templates::SiteProfile& site) {
  if (job.walltime_seconds > 0) lines.push_back("--time=" + render_walltime(job.walltime_seconds));
  if (!job.queue.empty()) lines.push_back("--partition=" + partitions(job.queue));
  if (!job.account.empty()) lines.push_back("--account=" + slurm_name(job.account, "account"));
  if (!job.qos.empty()) lines.push_back("--qos=" + slurm_name(job.qos, "qos"));
  if (!job.reservation.empty())
    lines.push_back("--reservation=" + slurm_name(job.reservation, "reservation"));
  if (!job.project.empty()) lines.push_back("--wckey=" + slurm_name(job.project, "project"));
  if (!job.application.empty()) lines.push_back(application_directive(job, site, "--comment={}"));
}

std::string slurm_dependencies(const JobSpec& job) {
  std::vector<std::string> parts;
  for (const Dependency& dependency : job.dependencies) {
    // "1234;cluster" is how sbatch prints a job of another cluster; it reads the number only.
    const std::string id = dependency.job.substr(0, dependency.job.find(';'));
    parts.push_back(slurm_name(dependency.kind, "dependency") + ":" +
                    directive_value(ValueKind::job_id, id, "dependency"));
  }
  return join(parts, ",");
}

void add_slurm_life(std::vector<std::string>& lines, const JobSpec& job, const JobDirectory& dir) {
  if (job.array) lines.push_back("--array=" + render_array(*job.array));
  if (!job.dependencies.empty()) lines.push_back("--dependency=" + slurm_dependencies(job));
  if (!job.mail.empty()) {
    lines.push_back("--mail-user=" + directive_value(ValueKind::mail, job.mail, "mail"));
    lines.push_back("--mail-type=" + slurm_mail_types(job.mail_events));
  }
  lines.push_back("--output=" + slurm_output(job, dir));
  lines.emplace_back("--open-mode=append");  // a restart would empty it
  // To this script only; it passes on what the job requested.
  if (job.signal.before_seconds > 0)
    lines.push_back(fmt::format("--signal=B:USR1@{}", job.signal.before_seconds));
  lines.emplace_back(job.requeue.wanted ? "--requeue" : "--no-requeue");
}

}  // namespace

std::string slurm_mail_types(const std::string& events) {
  std::vector<std::string> types;
  const std::string wanted = events.empty() ? "end,fail" : events;
  for (const std::string_view event : split(wanted, ',')) {
    if (event == "begin")
      types.emplace_back("BEGIN");
    else if (event == "end")
      types.emplace_back("END");
    else if (event == "fail")
      types.emplace_back("FAIL");
    else
      throw Error(ErrorKind::request, {fmt::format("mail_events: '{}' is no event", printable(event, 40)),
                                       "mail_events", "of begin, end, fail, joined by commas"});
  }
  return join(types, ",");
}

Script render_slurm(const JobSpec& job, const JobDirectory& dir, const templates::SiteProfile& site) {
  Script script;
  script.sentinel = "#SBATCH";
  script.directives.push_back("--job-name=" + directive_value(ValueKind::job_name, job.name, "name"));
  add_shape(script.directives, job);
  add_place_and_payer(script.directives, job, site);
  add_slurm_life(script.directives, job, dir);
  for (const std::string& line : site.directives)
    script.directives.push_back(verbatim_directive(line, site.file));
  for (const std::string& line : job.directives)
    script.directives.push_back(verbatim_directive(line, "directives"));
  script.body = render_body(job, dir, site.preamble);
  return script;
}

}  // namespace ddlrun::schedulers
