// SPDX-License-Identifier: MIT
// `ddl-train allreduce`: all ranks add up ones, to see that they find each other and how long it takes.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

// `args` behind "allreduce". Rank 0 prints one line of JSON, "ddl-train.allreduce/1".
int run_allreduce_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
