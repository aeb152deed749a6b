// SPDX-License-Identifier: MIT
// `ddl-train print-net`: prints a built-in net as YAML, or describes the format.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

// `args`: after "print-net". Returns the exit status.
int run_print_net_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
