// SPDX-License-Identifier: MIT
// The file that the name of a program means.
#pragma once

#include "base/os/system.hpp"

#include <string>

namespace ddlrun {

// `name` itself where it has a slash, else the first file of that name in PATH; "" if there is none.
std::string find_program(System& system, const std::string& name);

}  // namespace ddlrun
