// SPDX-License-Identifier: MIT
// The scheduler of this machine: its kind, its name, and how its commands run.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/job/scheduler.hpp"

#include <string>
#include <string_view>

namespace ddlrun::cli {

// Runs a command of the scheduler, for at most 60 s.
schedulers::CommandRunner scheduler_runner(System& system);

// The scheduler of this machine: Error{request} if there is none.
schedulers::SchedulerKind find_scheduler(System& system);
schedulers::SchedulerKind parse_scheduler(const std::string& name);
std::string_view name_of(schedulers::SchedulerKind kind);

}  // namespace ddlrun::cli
