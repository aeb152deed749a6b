// SPDX-License-Identifier: MIT
// `ddl-train timeline FILE`: merges the timeline parts that a killed run left.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

// `args`: after "timeline". Returns the exit status.
int run_timeline_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
