// SPDX-License-Identifier: MIT
// `ddl-train allreduce`: sums ones over all ranks, to check that they reach each other and to measure the
// time.
#pragma once

#include "base/text/command_reference.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

// `args`: after "allreduce". Rank 0 prints one JSON line, "ddl-train.allreduce/1".
int run_allreduce_command(const std::vector<std::string>& args);
std::vector<OptionReference> describe_allreduce_options();

}  // namespace ddlrun::runtime
