// SPDX-License-Identifier: MIT
#include "tests/unit/schedulers/job_texts.hpp"

#include "base/text/text.hpp"
#include "schedulers/job/site_rules.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ddlrun::tests {

namespace {

using namespace schedulers;

class Lines {
 public:
  template <typename T>
  void add(std::string_view key, const T& value, const T& usual) {
    if (value == usual) return;
    text_ << key << ": " << value << '\n';
  }
  void add(std::string_view key, const std::vector<std::string>& values) {
    for (const std::string& value : values) text_ << key << ": " << value << '\n';
  }
  void say(std::string_view key, const std::string& value) { text_ << key << ": " << value << '\n'; }
  std::string str() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

void add_amounts(Lines& lines, const JobSpec& job) {
  lines.say("dims", topology::render_dims(job.dims));
  if (job.order == topology::RankOrder::packed) lines.say("order", "packed");
  lines.add("host", job.hosts);
  lines.add("cores_per_node", job.cores_per_node, 0u);
  lines.add("hardware_threads_per_core", job.hardware_threads_per_core, 1u);
  lines.add("reserved_cores", job.reserved_cores, 0u);
  lines.add("threads", job.threads, 0u);
  lines.add("gpus", job.gpus_per_node, 0u);
  lines.add("gpu_type", job.gpu_type, std::string());
  lines.add("memory", job.memory_bytes, std::uint64_t{0});
  if (!job.exclusive) lines.say("exclusive", "no");
  lines.add("constraint", job.constraint, std::string());
  lines.add("walltime", job.walltime_seconds, std::uint64_t{0});
}

void add_names(Lines& lines, const JobSpec& job) {
  const std::string none;
  lines.say("name", job.name);
  constexpr const char* kinds[] = {"slurm", "pbs", "torque", "local"};
  lines.say("scheduler", kinds[static_cast<int>(job.scheduler)]);
  lines.add("site", job.site, none);
  lines.add("queue", job.queue, none);
  lines.add("account", job.account, none);
  lines.add("project", job.project, none);
  lines.add("application", job.application, none);
  lines.add("qos", job.qos, none);
  lines.add("reservation", job.reservation, none);
}

void add_surroundings(Lines& lines, const JobSpec& job) {
  const std::string none;
  lines.add("module", job.modules);
  if (!job.purge_modules) lines.say("purge_modules", "no");
  lines.add("conda", job.conda, none);
  lines.add("venv", job.venv, none);
  if (job.container) {
    lines.say("container", job.container->runtime + " " + job.container->image);
    lines.add("bind", job.container->binds);
  }
  lines.add("environment", job.environment);
  lines.add("setup", job.setup);
  if (job.data) lines.say("data", job.data->from + (job.data->to.empty() ? "" : " -> " + job.data->to));
  lines.add("word", job.program);
  lines.say("workdir", job.workdir);
  constexpr const char* runners[] = {"ddlrun", "srun", "none"};
  if (job.runner != Runner::ddlrun) lines.say("runner", runners[static_cast<int>(job.runner)]);
  lines.add("srun_mpi", job.srun_mpi, std::string("pmix"));
  constexpr const char* levels[] = {"off", "warn", "stop"};
  if (job.doctor != DoctorLevel::stop) lines.say("doctor", levels[static_cast<int>(job.doctor)]);
  lines.add("affinity", job.affinity, std::string("auto"));
  for (const PassedOption& option : job.launch_options) lines.say("launch", join(option.words, " "));
  for (const PassedOption& option : job.doctor_options) lines.say("doctor", join(option.words, " "));
  lines.add("ddlrun", job.ddlrun, std::string("ddlrun"));
}

void add_life(Lines& lines, const JobSpec& job) {
  if (job.signal.before_seconds > 0) {
    lines.say("signal", job.signal.name + " " + std::to_string(job.signal.before_seconds) + " s before");
  }
  if (job.requeue.wanted) lines.say("requeue", std::to_string(job.requeue.max_restarts));
  if (job.array) {
    std::ostringstream range;
    range << job.array->first << " to " << job.array->last << " step " << job.array->step << ", at once "
          << job.array->max_parallel;
    if (!job.array->more.empty()) range << ", a list of " << array_tasks(*job.array);
    lines.say("array", range.str());
  }
  for (const Dependency& dependency : job.dependencies) lines.say(dependency.kind, dependency.job);
  lines.add("mail", job.mail, std::string());
  lines.add("mail_events", job.mail_events, std::string());
  lines.add("output", job.output, std::string());
  lines.add("template", job.script_template, std::string());
  lines.add("directive", job.directives);
}

}  // namespace

JobText read_job_text(const std::string& yaml) {
  std::vector<Message> errors;
  JobSettings settings = read_job_settings(yaml, "ddlrun.yaml", errors);
  std::optional<templates::SiteProfile> site;
  if (const auto named = settings.find("site"); named != settings.end()) {
    site = templates::load_profile(named->second.value.text, read_test_file);
    settings = merge_settings(settings, profile_settings(*site, errors));
  }
  settings = merge_settings(settings, {{"workdir", flag_setting("workdir", "/scratch/me", "here")}});
  const ParsedJob parsed = read_job(settings);
  errors.insert(errors.end(), parsed.errors.begin(), parsed.errors.end());
  if (site) {
    const auto breaches = check_against_site(parsed.job, *site, settings);
    if (const auto misplaced = check_submit_directory(*site, parsed.job.workdir, settings))
      errors.push_back(*misplaced);
    errors.insert(errors.end(), breaches.begin(), breaches.end());
  }
  JobText text;
  Lines lines;
  add_names(lines, parsed.job);
  add_amounts(lines, parsed.job);
  add_surroundings(lines, parsed.job);
  add_life(lines, parsed.job);
  lines.add("remark", parsed.remarks);
  text.job = lines.str();
  for (const Message& each : sorted_by_place(errors)) text.errors += render_error("ddlrun", each);
  return text;
}

std::string read_test_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

}  // namespace ddlrun::tests
