// SPDX-License-Identifier: MIT
// The file that the name of a program means, and what runs it.
#pragma once

#include "base/os/system.hpp"

#include <string>

namespace ddlrun {

// `name` itself where it has a slash, else the first file of that name in PATH; "" if there is none.
std::string find_program(System& system, const std::string& name);

// "-- python3 ..." for the command `python`, which many systems lack, where PATH has python3; "" for any
// other.
std::string remedy_for_missing_python(System& system, const std::string& name);

// Whether the system would run the Python script `path` by the shell, because it has no "#!" line. False
// where the file cannot be read.
bool would_run_by_shell(System& system, const std::string& path);

}  // namespace ddlrun
