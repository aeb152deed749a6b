// SPDX-License-Identifier: MIT
// Signals as people know them: the same numbers on Linux on x86, ARM and POWER.
#pragma once

#include <string>

namespace ddlrun {

// "SIGKILL" for 9; "signal 77" where there is no name.
std::string signal_name(int number);
// "signal 9 (SIGKILL)"; "signal 77".
std::string describe_signal(int number);

}  // namespace ddlrun
