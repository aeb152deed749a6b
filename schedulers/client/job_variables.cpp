// SPDX-License-Identifier: MIT
#include "schedulers/client/job_variables.hpp"

#include "base/text/text.hpp"
#include "schedulers/job/scheduler_kinds.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/job/setting_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

// By the scheduler, the job's script or its shell.
bool is_set_in_each_job(std::string_view name) {
  constexpr std::array<std::string_view, 10> names{"HOME",
                                                   "USER",
                                                   "LOGNAME",
                                                   "SHELL",
                                                   "PATH",
                                                   "PWD",
                                                   "HOSTNAME",
                                                   "TMPDIR",
                                                   "CUDA_VISIBLE_DEVICES",
                                                   "ROCR_VISIBLE_DEVICES"};
  return starts_with_any(name, {"DDLRUN_", "PBS_", "SLURM_"}) ||
         std::ranges::find(names, name) != names.end();
}

bool may_set_variables(const JobRequest& wanted) {
  const JobSpec& job = wanted.parsed.job;
  return !job.setup.empty() || !job.modules.empty() || !job.conda.empty() || !job.venv.empty() ||
         !job.script_template.empty() || !wanted.site.preamble.empty();
}

// "LR=...", "export LR=..." in a line of setup.
bool assigns(const std::vector<std::string>& setup, const std::string& name) {
  return std::ranges::any_of(setup, [&](const std::string& line) {
    for (std::size_t at = line.find(name + "="); at != std::string::npos; at = line.find(name + "=", at + 1))
      if (at == 0 || std::string_view(" \t;&|(").find(line[at - 1]) != std::string_view::npos) return true;
    return false;
  });
}

// Where each entry stands, in the words of its file or option.
std::vector<PlacedText> placed_entries(const JobSettings& settings) {
  const auto found = settings.find("environment");
  if (found == settings.end() || found->second.value.kind == YamlValue::Kind::mapping) return {};
  std::vector<Message> ignored;
  return SettingReader(settings, ignored).texts("environment", "NAME");
}

void check_name(const PlacedText& entry, bool dry_run, JobRequest& wanted) {
  const JobSpec& job = wanted.parsed.job;
  const std::string& name = entry.text;
  if (is_set_in_each_job(name) || assigns(job.setup, name)) return;
  const std::string what = fmt::format("environment: {} is not set in this shell", name);
  const std::string remedy = fmt::format("{}=value, or leave {} out", name, name);
  if (may_set_variables(wanted)) {
    wanted.parsed.remarks.push_back(what +
                                    "; the ranks get it if the job sets it: setup, modules and the like");
  } else if (dry_run) {
    wanted.parsed.remarks.push_back(fmt::format("warning: {}; try: {}", what, remedy));
  } else {
    SettingReader reader(wanted.settings, wanted.parsed.errors);
    reader.add_error_at(what, entry.where, reader.hint("environment", remedy));
  }
}

// In the job `launch --threads` would take no notice of the variable.
void check_thread_variable(const Environment& environment, const PlacedText& entry, JobRequest& wanted) {
  constexpr std::string_view name = "OMP_NUM_THREADS";
  const JobSpec& job = wanted.parsed.job;
  const std::size_t equals = entry.text.find('=');
  if (job.runner != Runner::ddlrun || job.threads == 0 || entry.text.substr(0, equals) != name) return;
  const std::string value =
      equals == std::string::npos ? environment.get("OMP_NUM_THREADS") : entry.text.substr(equals + 1);
  if (value.empty() || value == std::to_string(job.threads)) return;
  SettingReader reader(wanted.settings, wanted.parsed.errors);
  const std::string origin = reader.origin_of("threads");
  const bool is_typed = entry.where.starts_with("--");
  const std::string what = fmt::format(
      "{} {}={} contradicts the {} that a rank has, {}", is_typed ? "--environment" : "environment:", name,
      printable(value, 40), counted(job.threads, "thread"),
      origin.empty() ? "as submit chose by the cores of a node" : "by " + origin);
  const auto number = parse_unsigned(value, UINT32_MAX);
  const std::string threads = number ? fmt::format("{}", *number) : fmt::format("{}", job.threads);
  const bool is_option = is_typed || origin.starts_with("--");
  reader.add_error_at(
      what, entry.where,
      fmt::format("{}{}   # instead of {}", is_option ? "--threads " : "threads: ", threads, name));
}

}  // namespace

void resolve_variables(const Environment& environment, bool dry_run, JobRequest& wanted) {
  JobSpec& job = wanted.parsed.job;
  for (const PlacedText& entry : placed_entries(wanted.settings)) {
    if (std::ranges::find(job.environment, entry.text) == job.environment.end()) continue;  // refused
    check_thread_variable(environment, entry, wanted);
    if (entry.text.find('=') != std::string::npos || environment.variables.contains(entry.text)) continue;
    if (!is_wildcard(entry.text)) {
      job.unset_names.push_back(entry.text);
      check_name(entry, dry_run, wanted);
    } else if (matching_variables({entry.text}, environment.variables).empty() &&
               !may_set_variables(wanted)) {
      wanted.parsed.remarks.push_back(
          fmt::format("warning: environment: no variable of this shell is one of {}", entry.text));
    }
  }
  // Slurm passes all on, PBS only what is named.
  if (!is_pbs_like(job.scheduler)) return;
  for (const std::string& name : matching_variables(job.environment, environment.variables))
    job.environment.push_back(name);
}

}  // namespace ddlrun::schedulers
