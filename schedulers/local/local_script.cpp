// SPDX-License-Identifier: MIT
// No scheduler: the body alone, run by bash; what only a scheduler can do is refused.
#include "base/text/error.hpp"
#include "schedulers/job/script_forms.hpp"

namespace ddlrun::schedulers {

namespace {

void refuse_local(const std::string& what, const std::string& where, const std::string& hint) {
  throw Error(ErrorKind::request, {what, where, hint});
}

}  // namespace

Script render_local(const JobSpec& job, const JobDirectory& dir, const templates::SiteProfile& site) {
  if (job.array)
    refuse_local("an array needs a scheduler", "array", "a loop around ddlrun submit, or --slurm, --pbs");
  if (!job.dependencies.empty())
    refuse_local("a dependency needs a scheduler", "dependency",
                 "one job after the other, or --slurm, --pbs");
  if (!job.directives.empty())
    refuse_local("directives without a scheduler", "directives", "without them, or --slurm, --pbs");
  if (job.runner == Runner::srun) refuse_local("srun is Slurm's", "runner", "runner: ddlrun");
  Script script;
  script.body = render_body(job, dir, site.preamble);
  return script;
}

}  // namespace ddlrun::schedulers
