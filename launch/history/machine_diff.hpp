// SPDX-License-Identifier: MIT
// Then and now: whether a run can be repeated as it was, and what is not the same. Pure but for the files of
// the run's directory.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/run_record.hpp"
#include "launch/plan/job_plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// What differs in cores, processors or GPUs, with both values; "" if nothing that a plan rests on does.
std::string describe_machine_change(const topology::MachineTopology& then,
                                    const topology::MachineTopology& now);

// Error{request} with both values if the hosts or a machine are not what they were.
void check_same_machines(System& system, const RunRecord& run, const std::string& directory,
                         const JobPlan& job);

// True where both texts put every rank on the same host and slot.
bool same_ranks(std::string_view rankfile_then, std::string_view rankfile_now);

// What is another value now, by name where it is no secret: notes for people. Nothing of those that are
// `given` now as NAME=value.
std::vector<std::string> export_changes(const RunRecord& run, const std::vector<std::string>& given,
                                        const Environment& environment);

}  // namespace ddlrun::launch
