// SPDX-License-Identifier: MIT
// What the environment of this path holds that changes how MPI and NCCL behave, and what the scheduler
// reports about the job there. Values of secrets are never read.
//   environment.settings    lines "NAME=VALUE" of OMPI_MCA_*, PMIX_MCA_*, PRTE_MCA_*, NCCL_*, UCX_*, I_MPI_*,
//                           MPICH_*, HCOLL_*, GLOO_*, FI_*, LD_PRELOAD; at most 128
//   environment.secrets     names only, on the driver host, of what looks like a secret; at most 64
//   environment.modules     LOADEDMODULES
//   environment.root_allowed "yes" where OMPI_ALLOW_RUN_AS_ROOT and _CONFIRM are set; environment.uid
//   environment.NAME        SLURM_JOB_ID, SLURM_CPUS_PER_TASK, SLURM_NTASKS_PER_NODE, SLURM_CPUS_ON_NODE,
//                           SLURM_GPUS_ON_NODE, SLURM_GPUS, SLURM_GPUS_PER_NODE, SLURM_GPUS_PER_TASK,
//                           PBS_JOBID, OMP_NUM_THREADS, where they are set
//   environment.cgroup      lines of /proc/self/cgroup
//   container.runtime       path of docker, podman, apptainer, singularity, enroot where the program is one
//   container.namespaces    /proc/sys/user/max_user_namespaces; container.image, "yes" or "no: PATH", of a
//   file
#include "base/text/secret_name.hpp"
#include "base/text/text.hpp"
#include "doctor/gather/libraries.hpp"
#include "doctor/gather/software.hpp"
#include "doctor/model/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_settings = 128;
constexpr std::size_t most_secrets = 64;
constexpr std::array<const char*, 10> job_names{
    "SLURM_JOB_ID",       "SLURM_CPUS_PER_TASK", "SLURM_NTASKS_PER_NODE", "SLURM_CPUS_ON_NODE",
    "SLURM_GPUS_ON_NODE", "SLURM_GPUS",          "SLURM_GPUS_PER_NODE",   "SLURM_GPUS_PER_TASK",
    "PBS_JOBID",          "OMP_NUM_THREADS"};

void look_at_container(const GatherContext& context, Facts& facts) {
  if (!is_container_runtime(context.request.executable)) return;
  const std::string path = find_in_path(context, context.request.executable);
  if (path.empty())
    facts.set_unknown("container.runtime", context.request.executable + " is not in PATH");
  else
    facts.set("container.runtime", path);
  if (const auto most = read_small(context, "/proc/sys/user/max_user_namespaces"))
    facts.set("container.namespaces", trim(*most));
  for (const std::string& file : context.request.program_files) {
    if (!file.ends_with(".sif") && !file.ends_with(".sqsh")) continue;
    const bool relative = !file.starts_with('/') && !context.request.workdir.empty();
    const std::string image = relative ? context.request.workdir + "/" + file : file;
    const bool here = context.kernel.may_access(context.root + image, Access::read);
    facts.set("container.image", here ? "yes" : "no: " + printable(image, 400));
  }
}

}  // namespace

void gather_environment(const GatherContext& context, Facts& facts) {
  std::vector<std::string> settings, secrets;
  const EnvVars& variables = context.system.environment.variables;
  for (const auto& [name, value] : variables) {
    if (is_secret_name(name)) {
      if (secrets.size() < most_secrets) secrets.push_back(printable(name, 80));
    } else if (is_mpi_setting(name) && settings.size() < most_settings) {
      settings.push_back(fmt::format("{}={}", printable(name, 80), printable(value)));
    }
  }
  facts.set_list("environment.settings", settings);
  if (context.request.is_driver_host) facts.set_list("environment.secrets", secrets);
  for (const char* name : job_names) {
    const auto set = variables.find(name);
    if (set != variables.end()) facts.set(fmt::format("environment.{}", name), printable(set->second));
  }
  facts.set("environment.modules", printable(context.system.environment.get("LOADEDMODULES"), 2000));
  const bool root_allowed =
      variables.count("OMPI_ALLOW_RUN_AS_ROOT") > 0 && variables.count("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") > 0;
  facts.set("environment.root_allowed", root_allowed ? "yes" : "no");
  facts.set("environment.uid", context.kernel.identity().uid);
  if (const auto cgroup = read_small(context, "/proc/self/cgroup"))
    facts.set("environment.cgroup", printable(trim(*cgroup), 2000));
  look_at_container(context, facts);
}

}  // namespace ddlrun::doctor
