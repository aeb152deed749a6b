// SPDX-License-Identifier: MIT
// Renders the --help of a command: summary, usage, arguments, options in groups, notes, examples.
#pragma once

#include "cli/command.hpp"

#include <string>

namespace ddlrun::cli {

// "ddlrun launch [OPTIONS] [DIMS] [HOSTS] [-- PROGRAM [ARGUMENT...]]".
std::string render_usage(const CLI::App& app, bool takes_program);

// `app` holds the options that `command.setup` declared.
std::string render_help(const Subcommand& command, CLI::App& app);

}  // namespace ddlrun::cli
