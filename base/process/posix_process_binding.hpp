// SPDX-License-Identifier: MIT
// What a started rank does to and learns of itself: its cpuset, and becoming the program. Linux
// only.
#pragma once

#include "base/os/system.hpp"

#include <string>
#include <vector>

namespace ddlrun {

// OS numbers of the processors this process may run on, ascending; empty if the kernel does not
// list them.
std::vector<int> read_own_cpuset();

// Binds this process, and what it starts, to processors by their OS numbers. The errno, or 0; the kernel
// leaves out silently what it does not allow as long as something is left: read_own_cpuset() shows the
// result.
int bind_to_pus(const std::vector<int>& pus);

// This process may use the processors that the process which started it may use. The errno, or 0.
int take_cpuset_of_parent();

// Memory of this process, and of what it starts, comes from one NUMA node: while there is some (`strictly`
// false), or never from elsewhere. The errno, or 0.
int take_memory_from(int numa_node, bool strictly);

// The errno, or 0.
int enter_directory(const std::string& path);

// This process's own environment, which what it starts inherits.
void change_variables(const EnvVars& set, const std::vector<std::string>& remove);

// This process gets SIGTERM when the one that started it ends, also after it became another
// program: so no rank outlives a killed mpirun or orted.
void end_with_parent();

// Becomes `command`, found by PATH, with the same process id. Returns only if that failed: the
// errno.
int become_program(const Command& command);

}  // namespace ddlrun
