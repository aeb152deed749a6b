// SPDX-License-Identifier: MIT
// The scheduler of this machine: its kind, its name, and how its commands run.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/job/scheduler.hpp"

#include <string>
#include <string_view>

namespace ddlrun::schedulers {

// Runs a command of the scheduler, for at most 60 s.
CommandRunner scheduler_runner(System& system);
// Runs each command once, for at most 10 s; the same command again gets the same answer, also where it
// failed.
CommandRunner ask_once(System& system);

// The scheduler of this machine: Error{request} if there is none.
SchedulerKind find_scheduler(System& system);

SchedulerKind parse_scheduler(const std::string& name);
std::string_view name_of(SchedulerKind kind);

}  // namespace ddlrun::schedulers
