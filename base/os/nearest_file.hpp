// SPDX-License-Identifier: MIT
// Which file, or program in PATH, a mistyped name most probably means.
#pragma once

#include "base/os/system.hpp"

#include <optional>
#include <string>

namespace ddlrun {

// In the same directory: "runs/trian.py" -> "runs/train.py". Nothing where no name is near.
std::optional<std::string> nearest_file(System& system, const std::string& path);

// The same among the files that may be executed.
std::optional<std::string> nearest_executable(System& system, const std::string& path);

// "pyton3" -> "python3".
std::optional<std::string> nearest_program(System& system, const std::string& name);

// For a script that does not exist: what to type instead, or how to see what is there.
std::string remedy_for_missing_file(System& system, const std::string& path);

// For a program that does not exist.
std::string remedy_for_missing_executable(System& system, const std::string& path);

}  // namespace ddlrun
