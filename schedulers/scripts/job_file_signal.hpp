// SPDX-License-Identifier: MIT
// The early signal of a Slurm script, and its traps for it, as keys of a job file. Pure.
#pragma once

#include "schedulers/scripts/convert.hpp"
#include "schedulers/scripts/job_script.hpp"
#include "schedulers/scripts/request.hpp"

#include <set>
#include <string>
#include <vector>

namespace ddlrun::job_scripts {

struct CarriedSignal {
  std::string signal;        // "TERM@60"; "" for none
  bool requeues = false;     // a trap of the script put the job back
  std::set<int> trap_lines;  // that the keys replace
  std::vector<Unsupported> notes;
};

// With B: the script alone has the signal, while the signal of a job file goes to the ranks: which of them
// fits depends on what the script's trap does.
CarriedSignal carry_signal(const JobScript& script, const ResourceRequest& request);

}  // namespace ddlrun::job_scripts
