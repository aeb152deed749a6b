// SPDX-License-Identifier: MIT
// The names that a user's own template may use, and the job's words for them.
#include "base/text/text.hpp"
#include "schedulers/job/script_forms.hpp"

#include <fmt/format.h>

namespace ddlrun::schedulers {

namespace {

using Words = std::vector<std::string>;

Words number(std::uint64_t value) { return value == 0 ? Words{} : Words{std::to_string(value)}; }
Words text(const std::string& value) { return value.empty() ? Words{} : Words{value}; }

Words named_variables(const JobSpec& job) {
  Words named = job.environment;
  std::erase_if(named, [](const std::string& entry) { return is_wildcard(entry); });
  return named;
}

// What the rendered scripts start: `ddlrun launch ... -- PROGRAM`.
Words launch_words(const JobSpec& job) {
  Words words{job.ddlrun, "launch", topology::render_dims(job.dims)};
  if (job.order == topology::RankOrder::packed) words.insert(words.end(), {"--order", "packed"});
  if (job.threads > 0) words.insert(words.end(), {"--threads", std::to_string(job.threads)});
  if (job.affinity != "auto") words.insert(words.end(), {"--affinity", job.affinity});
  if (job.framework != "auto") words.insert(words.end(), {"--framework", job.framework});
  for (const PassedOption& option : job.launch_options)
    words.insert(words.end(), option.words.begin(), option.words.end());
  for (const std::string& entry : named_variables(job))
    words.insert(words.end(), {"-x", variable_name(entry)});
  if (!job.program.empty()) words.emplace_back("--");
  words.insert(words.end(), job.program.begin(), job.program.end());
  return words;
}

// What the scheduler fills in: the task of an array.
std::string_view task_pattern(const JobSpec& job) {
  if (!job.array) return "";
  if (job.scheduler == SchedulerKind::pbs) return "^array_index^";
  return job.scheduler == SchedulerKind::slurm ? "%a" : "";
}

// The file of one task, where a directive can name it. "%a" in a name of the user's own is the task.
std::string output_value(const JobSpec& job, const JobDirectory& dir) {
  const std::string task(task_pattern(job));
  if (job.output.empty()) return task.empty() ? output_path(job, dir) : dir.path + "/output." + task + ".log";
  std::string path = output_path(job, dir);
  if (job.scheduler == SchedulerKind::pbs && !task.empty()) {
    if (const std::size_t at = path.find("%a"); at != std::string::npos) path.replace(at, 2, task);
  }
  return path;
}

// What the scheduler itself caught, where the script writes the log.
std::string scheduler_log_value(const JobSpec& job, const JobDirectory& dir) {
  const std::string_view task = task_pattern(job);
  return task.empty() ? dir.spool() : fmt::format("{}/scheduler.{}.log", dir.path, task);
}

Words array_words(const JobSpec& job) {
  if (!job.array) return {};
  return {job.scheduler == SchedulerKind::pbs ? render_pbs_array(*job.array) : render_array(*job.array)};
}

std::vector<templates::ShellPattern> output_patterns(const JobSpec& job) {
  if (job.scheduler == SchedulerKind::pbs) {
    if (!job.array) return {};
    return {{"^array_index^", "PBS_ARRAY_INDEX"}};
  }
  // sbatch(1), "filename pattern"; the batch script has the variables.
  if (job.scheduler == SchedulerKind::slurm) {
    return {{"%j", "SLURM_JOB_ID"},
            {"%A", "SLURM_ARRAY_JOB_ID"},
            {"%a", "SLURM_ARRAY_TASK_ID"},
            {"%N", "SLURMD_NODENAME"},
            {"%u", "USER"}};
  }
  return {};
}

Words signal_words(const JobSpec& job) {
  if (job.signal.before_seconds == 0) return {};
  return {fmt::format("{}@{}", job.signal.name, job.signal.before_seconds)};
}

Words dependency_words(const JobSpec& job) {
  std::vector<std::string> parts;
  for (const Dependency& one : job.dependencies) {
    const bool other_cluster =
        job.scheduler == SchedulerKind::slurm;  // "12;cluster": sbatch reads the number
    parts.push_back(one.kind + ":" + (other_cluster ? one.job.substr(0, one.job.find(';')) : one.job));
  }
  return text(join(parts, ","));
}

Words mail_words(const JobSpec& job) {
  if (job.mail.empty()) return {};
  const bool pbs = is_pbs_like(job.scheduler);
  return text(pbs ? pbs_mail_points(job.mail_events) : slurm_mail_types(job.mail_events));
}

}  // namespace

templates::TemplateValues template_values(const JobSpec& job, const JobDirectory& dir) {
  const std::uint64_t ranks = std::uint64_t{job.nodes()} * job.ranks_per_node();
  return {{"name", text(job.name)},
          {"dims", text(topology::render_dims(job.dims))},
          {"nodes", number(job.nodes())},
          {"ranks", number(ranks)},
          {"ranks_per_node", number(job.ranks_per_node())},
          {"threads", number(job.threads)},
          {"cpus_per_rank", number(std::uint64_t{job.threads} * job.hardware_threads_per_core)},
          {"cores_per_node", number(job.cores_per_node)},
          {"gpus_per_node", number(job.gpus_per_node)},
          {"gpu_type", text(job.gpu_type)},
          {"memory_mb", number(job.memory_bytes >> 20)},
          {"hosts", text(join(job.hosts, ","))},
          {"walltime", job.walltime_seconds > 0 ? Words{render_walltime(job.walltime_seconds)} : Words{}},
          {"walltime_seconds", number(job.walltime_seconds)},
          {"queue", text(job.queue)},
          {"account", text(job.account)},
          {"project", text(job.project)},
          {"application", text(job.application)},
          {"qos", text(job.qos)},
          {"reservation", text(job.reservation)},
          {"constraint", text(job.constraint)},
          {"mail", text(job.mail)},
          {"mail_events", mail_words(job)},
          {"signal", signal_words(job)},
          {"dependencies", dependency_words(job)},
          {"environment", named_variables(job)},
          {"data", job.data ? text(job.data->from) : Words{}},
          {"data_to", job.data ? text(job.data->to) : Words{}},
          {"container", job.container ? text(job.container->image) : Words{}},
          {"container_binds", job.container ? text(join(job.container->binds, ",")) : Words{}},
          {"array", array_words(job)},
          {"modules", job.modules},
          {"conda", text(job.conda)},
          {"venv", text(job.venv)},
          {"program", job.program},
          {"launch", launch_words(job)},
          {"ddlrun", text(job.ddlrun)},
          {"workdir", text(job.workdir)},
          {"directory", text(dir.path)},
          {"output", text(output_value(job, dir))},
          {"scheduler_log", text(scheduler_log_value(job, dir))},
          {"exit_status_file", text(dir.exit_status())}};
}

templates::TemplateRules template_rules(const JobSpec& job) {
  return {{"array", "dependencies", "hosts", "mail", "mail_events", "signal"},
          {{"output", output_patterns(job)}, {"scheduler_log", output_patterns(job)}}};
}

}  // namespace ddlrun::schedulers
