// SPDX-License-Identifier: MIT
// The rules of one centre.
#include "base/text/text.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

namespace ddlrun::job_scripts {

namespace {

bool has_application(const ScriptView& view, const std::string& carried) {
  const std::size_t placeholder = carried.find("{}");
  const std::string_view begin = trim(std::string_view(carried).substr(0, placeholder));
  for (const Directive& directive : view.script.directives) {
    const std::string text = directive.option + (directive.option.starts_with("--") ? "=" : "");
    if (text == begin && !directive.value.empty()) return true;
  }
  return false;
}

bool is_given(const ScriptView& view, const templates::SiteProfile& site, const std::string& key) {
  const ResourceRequest& request = view.request;
  if (key == "application") return has_application(view, site.application_directive);
  if (key == "walltime") return request.walltime_seconds > 0;
  if (key == "queue") return !request.queue.empty();
  if (key == "account") return !request.account.empty();
  if (key == "project") return !request.project.empty();
  return true;
}

std::string directive_for(const ScriptView& view, const templates::SiteProfile& site,
                          const std::string& key) {
  const char* sentinel = view.slurm() ? "#SBATCH" : "#PBS";
  if (key == "application") {
    std::string text = site.application_directive;
    const std::size_t placeholder = text.find("{}");
    if (placeholder != std::string::npos) text.replace(placeholder, 2, "etc");
    return fmt::format("{} {}", sentinel, text);
  }
  if (key == "walltime") return view.slurm() ? "#SBATCH --time=04:00:00" : "#PBS -l walltime=04:00:00";
  if (key == "queue") return view.slurm() ? "#SBATCH --partition=NAME" : "#PBS -q NAME";
  return fmt::format("{} -A NAME", sentinel);
}

Place place_of_walltime(const ScriptView& view) {
  Place place;
  for (const Directive* directive : directives_of(view, "time", 'l'))
    if (view.slurm() || directive->value.find("walltime=") != std::string::npos)
      place = {directive->line, directive->column};
  return place;
}

}  // namespace

std::uint64_t walltime_limit(const templates::SiteProfile& site, std::string_view queue) {
  if (queue.empty())
    for (const auto& [key, value] : site.defaults)
      if (key == "queue") queue = value.text;
  for (const auto& [name, seconds] : site.queue_walltimes)
    if (name == queue) return seconds;
  return site.walltime_most_seconds;
}

std::vector<Finding> lint_site(const ScriptView& view) {
  std::vector<Finding> findings;
  if (view.context.site == nullptr) return findings;
  const templates::SiteProfile& site = *view.context.site;
  const bool other = (site.scheduler == "slurm" && view.pbs()) || (site.scheduler == "pbs" && view.slurm());
  if (other)
    findings.push_back(
        {"site-scheduler",
         Severity::error,
         {0, 0},
         fmt::format("{} runs {}, the script is for the other scheduler", site.name, site.scheduler),
         "its directives are not read there",
         fmt::format("ddlrun convert {} --to {}", quote_shell(view.script.file), site.scheduler)});
  for (const std::string& key : site.required)
    if (!other && !is_given(view, site, key))
      findings.push_back({"site-field-missing",
                          Severity::error,
                          {0, 0},
                          fmt::format("{} requires {} for every job", site.name, key),
                          "the job is refused or waits forever",
                          directive_for(view, site, key)});
  const std::uint64_t most = walltime_limit(site, view.request.queue);
  if (most > 0 && view.request.walltime_seconds > most)
    findings.push_back({"site-walltime", Severity::error, place_of_walltime(view),
                        fmt::format("{} requested, {} allows {}", render_time(view.request.walltime_seconds),
                                    site.name, render_time(most)),
                        "the job waits forever",
                        (view.slurm() ? "--time=" : "walltime=") + render_time(most)});
  return findings;
}

}  // namespace ddlrun::job_scripts
