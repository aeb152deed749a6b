// SPDX-License-Identifier: MIT
// `ddl-train timeline FILE.json`: makes one file of the parts that a run has left which did not end in order.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

// `args` behind "timeline".
int run_timeline_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
