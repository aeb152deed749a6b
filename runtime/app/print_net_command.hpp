// SPDX-License-Identifier: MIT
// ddl-train print-net: a net of the program as a file to start from, or how nets are written.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

// The args after "print-net". Returns the exit status.
int run_print_net_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
