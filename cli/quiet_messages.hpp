// SPDX-License-Identifier: MIT
// Which messages -q leaves: errors, and the end of a run or job that failed.
#pragma once

#include <string_view>

namespace ddlrun::cli {

// `text`: as a command prints it on stderr at once.
bool is_shown_when_quiet(std::string_view text);

}  // namespace ddlrun::cli
