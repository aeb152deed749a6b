// SPDX-License-Identifier: MIT
// The directory of one run's files: rankfile, command, plan, run.json.
#pragma once

#include "base/os/system.hpp"

#include <string>

namespace ddlrun::launch {

// `wanted` (--run-dir), or a new one in the user's state directory. `create` false only names it, for a dry
// run. Error{request} if the directory already holds a run.
std::string choose_run_dir(System& system, const std::string& wanted, bool create);

}  // namespace ddlrun::launch
