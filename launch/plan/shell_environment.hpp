// SPDX-License-Identifier: MIT
// How the shell that started this launch was started itself.
#pragma once

#include "base/os/system.hpp"
#include "launch/rank/shell_variables.hpp"

namespace ddlrun::launch {

// Of the nearest shell above this process: timeout, nohup and others may stand between.
ShellStart read_shell_start(System& system);

}  // namespace ddlrun::launch
