// SPDX-License-Identifier: MIT
// The names that a user's own template may use, and the job's words for them.
#include "base/text.hpp"
#include "schedulers/script_forms.hpp"

#include <fmt/format.h>

namespace ddlrun::schedulers {

namespace {

using Words = std::vector<std::string>;

Words number(std::uint64_t value) { return value == 0 ? Words{} : Words{std::to_string(value)}; }
Words text(const std::string& value) { return value.empty() ? Words{} : Words{value}; }

// What the rendered scripts start: `ddlrun launch ... -- PROGRAM`.
Words launch_words(const JobSpec& job) {
  Words words{job.ddlrun, "launch", topology::render_dims(job.dims)};
  if (job.order == topology::RankOrder::packed) words.insert(words.end(), {"--order", "packed"});
  if (job.threads > 0) words.insert(words.end(), {"--threads", std::to_string(job.threads)});
  if (job.affinity != "auto") words.insert(words.end(), {"--affinity", job.affinity});
  for (const std::string& entry : job.environment) words.insert(words.end(), {"-x", variable_name(entry)});
  if (!job.program.empty()) words.emplace_back("--");
  words.insert(words.end(), job.program.begin(), job.program.end());
  return words;
}

}  // namespace

templates::TemplateValues template_values(const JobSpec& job, const JobFolder& folder) {
  const std::uint64_t ranks = std::uint64_t{job.nodes()} * job.ranks_per_node();
  return {{"name", text(job.name)},
          {"dims", text(topology::render_dims(job.dims))},
          {"nodes", number(job.nodes())},
          {"ranks", number(ranks)},
          {"ranks_per_node", number(job.ranks_per_node())},
          {"threads", number(job.threads)},
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
          {"array", job.array ? Words{render_array(*job.array)} : Words{}},
          {"modules", job.modules},
          {"conda", text(job.conda)},
          {"venv", text(job.venv)},
          {"program", job.program},
          {"launch", launch_words(job)},
          {"ddlrun", text(job.ddlrun)},
          {"working_folder", text(job.working_folder)},
          {"folder", text(folder.path)},
          {"output", text(output_path(job, folder))},
          {"exit_status_file", text(folder.exit_status())}};
}

}  // namespace ddlrun::schedulers
