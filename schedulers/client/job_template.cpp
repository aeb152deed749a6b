// SPDX-License-Identifier: MIT
#include "schedulers/client/job_template.hpp"

#include "base/text/text.hpp"
#include "schedulers/client/job_directory.hpp"
#include "schedulers/client/site_files.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/job/template_coverage.hpp"
#include "templates/user_template.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

constexpr std::uint64_t max_template_bytes = 1u << 20;

// "conf/ddlrun.yaml:3:7" -> "conf"; "." for a file without directory.
std::string dir_of_origin(const std::string& origin) {
  std::string file = origin;
  for (int i = 0; i < 2; ++i) file = file.substr(0, file.rfind(':'));
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, std::max<std::size_t>(slash, 1));
}

// Settings of this job must not be lost; settings for all jobs in a profile or a config.yaml may.
bool is_for_all_jobs(const JobRequest& wanted, const std::string& where) {
  return where.starts_with("profile ") ||
         std::ranges::any_of(wanted.configuration_files,
                             [&](const std::string& file) { return where.starts_with(file + ":"); });
}

std::string shown_file(const System& system, const std::string& path) {
  const std::string here = system.environment.workdir + "/";
  return path.starts_with(here) ? path.substr(here.size()) : path;
}

// The sign of directives that stand in the text, and of those that the scheduler reads.
bool has_directives(const std::string& text, const std::string& sign) {
  return text.starts_with(sign + " ") || text.find("\n" + sign + " ") != std::string::npos;
}

// Without these a job runs somewhere else, at another's expense, or not at all.
bool decides_where(std::string_view key) { return key == "queue" || key == "account" || key == "modules"; }

// Lines of another scheduler's are comments to this one: what they ask for would be lost.
bool refuse_foreign_template(JobRequest& wanted, const std::string& file) {
  const JobSpec& job = wanted.parsed.job;
  if (job.scheduler == SchedulerKind::local) return false;
  const bool slurm = job.scheduler == SchedulerKind::slurm;
  const std::string other = slurm ? "--pbs" : "--slurm";
  const bool is_plain = templates::placeholder_names(wanted.template_text).empty();
  const std::string own = slurm ? "#SBATCH" : "#PBS", foreign = slurm ? "#PBS" : "#SBATCH";
  if (has_directives(wanted.template_text, own) || !has_directives(wanted.template_text, foreign))
    return false;
  wanted.parsed.errors.push_back(
      {fmt::format("{} has {} lines only, which {} takes for comments: shape and time would be lost", file,
                   foreign, slurm ? "sbatch" : "qsub"),
       wanted.settings.at("template").origin,
       // `convert` knows no placeholders.
       is_plain ? fmt::format("{}; or ddlrun convert --to {} {}", other, slurm ? "slurm" : "pbs",
                              quote_shell(file))
                : fmt::format("{}; or a template with {} lines, as examples/site/templates/{} of ddlrun",
                              other, own, slurm ? "plain.sh" : "plain.pbs")});
  return true;
}

void check_lost(JobRequest& wanted, const std::string& file, const std::set<std::string>& placeholders) {
  std::string others;
  bool is_serious = false;
  for (const auto& fact : dropped_settings(wanted.parsed.job, wanted.settings, placeholders)) {
    if (is_for_all_jobs(wanted, fact.where)) {
      others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", fact.key, fact.value);
      is_serious = is_serious || decides_where(fact.key);
    } else if (fact.placeholder.empty()) {
      wanted.parsed.errors.push_back({fmt::format("{} ({}) cannot be set in a template: {} states "
                                                  "by its own lines what is done",
                                                  fact.key, fact.value, file),
                                      fact.where, "the job without " + fact.key});
    } else {
      wanted.parsed.errors.push_back(
          {fmt::format("{} ({}) would be lost: {} has no placeholder for it", fact.key, fact.value, file),
           fact.where, fact.placeholder + "   # in the template; or the job without it"});
    }
  }
  if (!others.empty()) {
    wanted.parsed.remarks.push_back(
        fmt::format("{}template: it has no placeholder for settings of all jobs, which are left out: {}",
                    is_serious ? "warning: " : "", others));
  }
  if (!wanted.site.preamble.empty() || !wanted.site.directives.empty())
    wanted.parsed.remarks.push_back("template: the site's own lines (preamble, directives) are not in it");
}

}  // namespace

void find_template(System& system, const templates::SiteProfile& site, JobSettings& settings) {
  const auto found = settings.find("template");
  if (found == settings.end() || found->second.value.kind != YamlValue::Kind::scalar) return;
  std::string& path = found->second.value.text;
  if (path.empty() || path[0] == '/' || path[0] == '~' || path.find('$') != std::string::npos) return;
  const std::string& origin = found->second.origin;
  std::string dir = ".";
  if (origin.starts_with("profile "))
    dir = site.file.find('/') == std::string::npos ? "." : site.file.substr(0, site.file.rfind('/'));
  else if (found->second.value.line > 0)
    dir = dir_of_origin(origin);
  const std::string name = path;
  path = system.environment.absolute(dir == "." ? path : dir + "/" + path);
  if (system.files.exists(path)) return;
  if (const auto shared = find_shared_template(system, name)) path = *shared;
}

void read_template(System& system, JobRequest& wanted) {
  const JobSpec& job = wanted.parsed.job;
  if (job.script_template.empty()) return;
  wanted.template_text = system.files.read(job.script_template, max_template_bytes);
  const std::string file = shown_file(system, job.script_template);
  if (is_shared_template(system.environment, file)) wanted.parsed.remarks.push_back("template: " + file);
  if (refuse_foreign_template(wanted, file)) return;
  const JobDirectory dir{find_job_dir(system, job)};  // its real one may end in -2
  const auto filled =
      templates::fill_template(wanted.template_text, file, template_values(job, dir), template_rules(job));
  auto& errors = wanted.parsed.errors;
  errors = filled.errors;
  for (Message& error : check_template(job, filled.used, dir.path)) {
    if (error.where == job.script_template) error.where = file;
    errors.push_back(std::move(error));
  }
  check_lost(wanted, file, filled.used);
  errors = sorted_by_place(std::move(errors));
  for (std::string& remark : template_remarks(job, filled))
    wanted.parsed.remarks.push_back(std::move(remark));
}

std::string fill_job_template(const JobRequest& wanted, const JobDirectory& dir) {
  const JobSpec& job = wanted.parsed.job;
  auto filled = templates::fill_template(wanted.template_text, job.script_template, template_values(job, dir),
                                         template_rules(job));
  if (!filled.errors.empty()) throw Error(ErrorKind::request, filled.errors.front());
  return std::move(filled.text);
}

}  // namespace ddlrun::schedulers
