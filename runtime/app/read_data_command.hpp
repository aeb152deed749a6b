// SPDX-License-Identifier: MIT
// `ddl-train read-data`: measures how fast images are read and decoded.
#pragma once

#include "base/text/command_reference.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

// `args`: after "read-data". Returns the exit status.
int run_read_data_command(const std::vector<std::string>& args);
std::vector<OptionReference> describe_read_data_options();

}  // namespace ddlrun::runtime
