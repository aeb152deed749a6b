// SPDX-License-Identifier: MIT
// Runs a training: everything between argv and the exit status.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

int run_train_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
