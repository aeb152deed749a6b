// SPDX-License-Identifier: MIT
// The command line: finds the subcommand, parses, runs it, and is the only place that catches.
#pragma once

#include "base/os/system.hpp"

#include <string>
#include <vector>

namespace ddlrun::cli {

// argv without the program's name; returns the process exit status.
int run_app(const std::vector<std::string>& arguments, System system);

}  // namespace ddlrun::cli
