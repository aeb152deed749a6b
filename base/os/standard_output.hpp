// SPDX-License-Identifier: MIT
// The message if output cannot be written; and for programs that print by stdio, which finds out only in
// the end that a disk is full.
#pragma once

#include "base/text/error.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace ddlrun {

// `code`: an errno; `place`: "standard output".
Message unwritten_output(int code, std::string place);

// The command's own status; 3 and a message if all was well but the output could not be written. What stdio
// writes to standard error meanwhile is dropped where it cannot be written, and never an error: a rank must
// not end because the disk of its log is full.
int run_with_output(std::string_view program, const std::function<int()>& command);

}  // namespace ddlrun
