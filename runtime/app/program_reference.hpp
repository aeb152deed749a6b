// SPDX-License-Identifier: MIT
// The commands and options of ddl-train as plain text, for its help, its man page and the completion in
// shells.
#pragma once

#include "base/text/command_reference.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

// ddl-train, then its commands.
std::vector<CommandReference> describe_train_commands();

// `ddl-train __reference` and `ddl-train __complete WORD...`; return the exit status.
int run_reference_command(const std::vector<std::string>& args);
int run_complete_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
