// SPDX-License-Identifier: MIT
// Steps of the Slurm job that this process is in: srun reaches the job's nodes where ssh between them is
// refused.
#pragma once

#include "base/os/system.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::topology {

// How hosts are reached. `automatic`: by srun inside a Slurm job that has all of them, else by ssh.
enum class HostPath { automatic, ssh };

struct StepHosts {
  std::set<std::string> reached;                // srun starts a step there
  std::map<std::string, std::string> failures;  // of the others: what srun reports
};

// Whether srun is the path to these hosts. They are nodes of this Slurm job, and one is another host. srun is
// in PATH, and no variable makes mpirun use ssh. The job requests no GPUs by task or for all nodes: a step on
// one node does not see these. It starts no process.
bool has_slurm_path(System& system, const std::vector<std::string>& hosts);

// Starts a step on the hosts to learn which of them srun reaches, and reports the others in one line on
// stderr: ssh is used there. Both parts are empty where has_slurm_path() is false.
StepHosts find_step_hosts(System& system, const std::vector<std::string>& hosts);

// The variables of a job that would change a step of one task on each host: its processors, memory or GPUs,
// the form of its output, or where it runs.
std::vector<std::string> find_step_variables(const EnvVars& environment);

// Options of srun for a step beside all others of the job, which waits for no other step's processors or
// memory and binds nothing.
const std::vector<std::string>& step_options();

// "srun ..." for one task on each host, beside all other steps of the job; the program follows. `left_out`:
// find_step_variables().
Command plan_step_command(const std::vector<std::string>& left_out, const std::vector<std::string>& hosts);

// The step that shows whether srun reaches the hosts: `true` on each, at once or not at all.
Command plan_trial_step(const Environment& environment, const std::vector<std::string>& hosts);

// Whether a variable of Open MPI makes mpirun start its daemons by ssh inside a Slurm job.
bool makes_mpirun_use_ssh(const Environment& environment);

// Whether this value of Open MPI's parameter plm excludes Slurm, so that mpirun starts its daemons by ssh.
bool excludes_slurm(std::string_view plm);

}  // namespace ddlrun::topology
