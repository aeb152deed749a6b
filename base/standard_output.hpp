// SPDX-License-Identifier: MIT
// For programs that print by stdio, which finds out only in the end that a disk is full.
#pragma once

#include <functional>
#include <string_view>

namespace ddlrun {

// The command's own status; 3 and a message if all was well but the output could not be written.
int run_with_output(std::string_view program, const std::function<int()>& command);

}  // namespace ddlrun
