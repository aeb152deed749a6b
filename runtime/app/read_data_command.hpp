// SPDX-License-Identifier: MIT
// ddl-train read-data: how fast images come, without a net that waits for them.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

// The words behind "read-data". Returns the exit status.
int run_input_command(const std::vector<std::string>& words);

}  // namespace ddlrun::runtime
