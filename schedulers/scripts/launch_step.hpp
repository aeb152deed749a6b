// SPDX-License-Identifier: MIT
// What a line that starts ranks asks for itself: srun's own options, -np and -H of horovodrun and mpirun.
// Under Slurm such a step gets its part of the job, and a job may leave to it what its directives do not say.
#pragma once

#include "base/text/shell_lexer.hpp"
#include "schedulers/scripts/job_script.hpp"
#include "schedulers/scripts/request.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::job_scripts {

// 0: not given, or no plain number.
struct LaunchStep {
  std::string launcher;  // "srun", "horovodrun", "mpirun"
  std::uint64_t nodes = 0, tasks = 0, tasks_per_node = 0, cpus_per_task = 0;
  std::uint64_t gpus = 0, gpus_per_node = 0, gpus_per_task = 0;
  std::string gpu_type;
  std::string hosts;                 // of -H, with its counts: "a:2,b:2"
  std::uint64_t slots = 0;           // sum of these counts
  std::string tasks_text;            // a number of tasks that is none: "$SLURM_NTASKS"
  bool label = false;                // the rank before each line
  bool overcommits = false;          // several tasks on a core are meant
  std::vector<std::string> unknown;  // options of srun that mpirun lacks, with their values
  std::size_t program = 0;           // index of the program's word; of srun only

  // Of all nodes; 0: not given.
  std::uint64_t all_tasks() const { return tasks > 0 ? tasks : nodes * tasks_per_node; }
};

// std::nullopt for another command.
std::optional<LaunchStep> read_launch_step(const ShellCommand& command);

// Where a step of srun asks for more than its job has; nothing for other launchers.
struct StepExcess {
  std::string what;       // "4 nodes, the job has 2"
  std::string directive;  // that the job lacks: "--nodes=4"
};
std::vector<StepExcess> find_step_excess(const LaunchStep& step, const ResourceRequest& request);

// The script with directives for what the job does not ask and its steps, one after the other, need; what
// they are is added to `taken`. Only for Slurm, where a job without a number of tasks leaves it to srun.
JobScript with_step_requests(JobScript script, std::vector<Unsupported>& taken);

}  // namespace ddlrun::job_scripts
