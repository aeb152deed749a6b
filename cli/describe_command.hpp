// SPDX-License-Identifier: MIT
// The commands of ddlrun as plain text, read from the options that each one declares.
#pragma once

#include "base/text/command_reference.hpp"
#include "cli/command.hpp"

#include <vector>

namespace ddlrun::cli {

// Declares -h, -v and -q on `app`, which all commands have.
void declare_global_options(CLI::App& app, GlobalOptions& options);

CommandReference describe_command(const Subcommand& command);

// `ddlrun` itself: its argument is a command.
CommandReference describe_program();

// describe_program() and all commands that are not hidden.
std::vector<CommandReference> describe_commands();

}  // namespace ddlrun::cli
