// SPDX-License-Identifier: MIT
// Words of a script, and what they mean for a job file.
#pragma once

#include "schedulers/scripts/shell_lexer.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::job_scripts {

// "64GiB"; rounded up to KiB.
std::string memory_text(std::uint64_t bytes);

// "NAME" of the assignment, and its value.
std::pair<std::string, std::string> split_assignment(const std::string& text);

// ddlrun sets these for each rank from the plan.
bool is_thread_variable(std::string_view name);

bool is_submit_directory(std::string_view word);

// By how much if, for and their ends nest what follows the command.
int change_of_depth(const ShellCommand& command);

bool only_prints(const std::vector<ShellCommand>& commands);

}  // namespace ddlrun::job_scripts
