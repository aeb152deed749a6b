// SPDX-License-Identifier: MIT
// `ddl-train read-data`: measures how fast images are read and decoded.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

// `args`: after "read-data". Returns the exit status.
int run_read_data_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
