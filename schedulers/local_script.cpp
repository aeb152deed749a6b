// SPDX-License-Identifier: MIT
// No scheduler: the body alone, run by bash; what only a scheduler can do is refused.
#include "base/error.hpp"
#include "schedulers/script_forms.hpp"

namespace ddlrun::schedulers {

namespace {

void refuse(const std::string& what, const std::string& where, const std::string& hint) {
  throw Error(ErrorKind::request, {what, where, hint});
}

}  // namespace

Script render_local(const JobSpec& job, const JobFolder& folder, const templates::SiteProfile& site) {
  if (job.array)
    refuse("an array needs a scheduler", "array", "a loop around ddlrun submit, or --slurm, --pbs");
  if (!job.dependencies.empty())
    refuse("a dependency needs a scheduler", "dependency", "one job after the other, or --slurm, --pbs");
  if (!job.directives.empty())
    refuse("directives without a scheduler", "directives", "without them, or --slurm, --pbs");
  if (job.launcher == Launcher::srun) refuse("srun is Slurm's", "launcher", "launcher: ddlrun");
  Script script;
  script.body = render_body(job, folder, site.preamble);
  return script;
}

}  // namespace ddlrun::schedulers
