// SPDX-License-Identifier: MIT
// What a script asks of its scheduler and no key of ddlrun.yaml expresses.
#pragma once

#include "base/text/shell_lexer.hpp"
#include "schedulers/scripts/job_script.hpp"
#include "schedulers/scripts/request.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ddlrun::job_scripts {

// Whether `requeue: yes` requests the script's requeue; it cannot for an array of PBS.
bool can_carry_requeue(const JobScript& script, const ResourceRequest& request);

// What no key has: kept as a directive where the job is for a scheduler of the script's kind, else lost.
struct Losses {
  std::vector<Unsupported> notes;
  std::vector<std::string> directives;  // of the key directives
};
// `scheduler` is that of the new job. `has_comment`: a key has the request's comment.
Losses find_losses(const JobScript& script, const ResourceRequest& request, const std::string& scheduler,
                   bool has_comment);

// What stands around the program, command number `at` of its line: "cd run &&", "| tee log.txt". In a loop or
// condition that is reported itself only what the output is piped to.
std::vector<Unsupported> find_surroundings(const ScriptLine& line, const std::vector<ShellCommand>& commands,
                                           std::size_t at, bool is_in_compound);

}  // namespace ddlrun::job_scripts
