// SPDX-License-Identifier: MIT
// Runs that were, by what people call them: an id, the beginning of one, a directory, `last`.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/history.hpp"
#include "launch/history/run_record.hpp"

#include <string>
#include <vector>

namespace ddlrun::launch {

// The directories in the state directory, by their start, newest first. Error{request} where there is no
// state directory.
std::vector<std::string> list_run_directories(System& system);

// The run's directory. Error{request} where none is meant, or several are.
std::string find_run_directory(System& system, const std::string& word);

// The directory of the first start where this one came after a bad end, else itself. Error{request} where it
// is gone.
std::string find_original_run(System& system, const std::string& directory);

// Error{request} for a damaged one.
RunRecord read_run(System& system, const std::string& directory, bool with_ranks);

// Running only if the very process that wrote the record still is: a number alone says nothing.
RunState find_run_state(System& system, const RunRecord& run);

}  // namespace ddlrun::launch
