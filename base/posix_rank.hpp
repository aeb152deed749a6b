// SPDX-License-Identifier: MIT
// What a started rank does to and learns of itself: its cpuset, and becoming the program. Linux
// only.
#pragma once

#include "base/doors.hpp"

#include <string>
#include <vector>

namespace ddlrun {

// OS numbers of the processors this process may run on, ascending; empty if the kernel does not
// tell.
std::vector<int> read_own_cpuset();

// Lets this process run on these processors only, and on all that it may where there are none given. Returns
// the errno, or 0.
int bind_self(const std::vector<int>& pus);

// Makes it the working folder; "" stays. Returns the errno, or 0.
int enter_folder(const std::string& folder);

// This process gets SIGTERM when the one that started it ends, also after it became another
// program: so no rank outlives a killed mpirun or orted.
void end_with_parent();

// Becomes `command`, found by PATH, with the same process id. Returns only if that failed: the
// errno.
int become_program(const Command& command);

}  // namespace ddlrun
