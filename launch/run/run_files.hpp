// SPDX-License-Identifier: MIT
// Files of a run directory for people: the command line and the names of the environment. Pure.
#pragma once

#include "base/os/system.hpp"
#include "launch/rank/exports.hpp"

#include <string>

namespace ddlrun::launch {

// A word a line where no word holds a newline, and the line to paste as a comment on top.
std::string render_argv_file(const Command& argv, const std::string& pasteable);
// The same for programs: words that end in NUL, byte for byte.
std::string render_argv_nul(const Command& argv);

// "exported NAME" and "present NAME", sorted: what the ranks got and what else mpirun saw.
std::string render_environment_names(const EnvVars& environment, const Exports& exports);

}  // namespace ddlrun::launch
