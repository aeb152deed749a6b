// SPDX-License-Identifier: MIT
// Open MPI has a slot for each task of a Slurm job, whatever the CPUs, and refuses a rankfile with more ranks
// on a host: "There are not enough slots available" (4.1.4, Slurm 22.05.8).
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/plan/launch_spec.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// SLURM_TASKS_PER_NODE, "2(x3),1", as a number for each host; empty where the text is of another form.
std::vector<std::uint32_t> parse_tasks_per_node(std::string_view text);

// Error{request} where a host of the job has fewer tasks than planned ranks. Checks nothing outside of Slurm,
// nor with --oversubscribe, nor where the user's arguments let Open MPI oversubscribe hosts or choose its
// allocation.
void check_slurm_slots(const System& system, const LaunchSpec& spec, const JobPlan& job);

}  // namespace ddlrun::launch
