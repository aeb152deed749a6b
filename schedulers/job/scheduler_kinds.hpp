// SPDX-License-Identifier: MIT
// The schedulers one by one, for make_scheduler(), and what they share when they ask.
#pragma once

#include "schedulers/job/scheduler.hpp"

#include <functional>

namespace ddlrun::schedulers {

std::unique_ptr<Scheduler> make_slurm();
std::unique_ptr<Scheduler> make_pbs();
std::unique_ptr<Scheduler> make_torque();
std::unique_ptr<Scheduler> make_local();

// A poll that was not answered: never a finding about the job. Error{request} where `tool` is not there.
[[noreturn]] void throw_query_error(std::string_view tool, const ProcessResult& answer);
// "may it be that..." for an unknown id.
JobStatus unknown_job(const JobId& id, std::string explained);
// Names in `environment` that begin with one of `prefixes`, but not those of `kept`.
std::vector<std::string> variables_with(const EnvVars& environment,
                                        std::span<const std::string_view> prefixes,
                                        std::span<const std::string_view> kept);

}  // namespace ddlrun::schedulers
