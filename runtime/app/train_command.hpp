// SPDX-License-Identifier: MIT
// ddl-train as a function: everything between argv and the exit status.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

int run_train_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
