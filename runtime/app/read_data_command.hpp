// SPDX-License-Identifier: MIT
// ddl-train read-data: how fast images come, without a net that waits for them.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

// The args behind "read-data". Returns the exit status.
int run_read_data_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
