// SPDX-License-Identifier: MIT
// What a script asks of its scheduler and no key of ddlrun.yaml expresses.
#pragma once

#include "schedulers/scripts/job_script.hpp"
#include "schedulers/scripts/request.hpp"
#include "schedulers/scripts/shell_lexer.hpp"

#include <cstddef>
#include <vector>

namespace ddlrun::job_scripts {

// Whether `requeue: yes` requests the script's requeue; it cannot for an array of PBS.
bool can_carry_requeue(const JobScript& script, const ResourceRequest& request);

std::vector<Unsupported> find_losses(const JobScript& script, const ResourceRequest& request);

// What stands around the program, command number `at` of its line: "cd run &&", "| tee log.txt". In a loop or
// condition that is reported itself only what the output is piped to.
std::vector<Unsupported> find_surroundings(const ScriptLine& line, const std::vector<ShellCommand>& commands,
                                           std::size_t at, bool is_in_compound);

}  // namespace ddlrun::job_scripts
