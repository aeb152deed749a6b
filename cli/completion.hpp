// SPDX-License-Identifier: MIT
// `ddlrun __complete WORD...`: the answer for the shell that completes a command line.
#pragma once

#include "base/os/system.hpp"

#include <string>
#include <vector>

namespace ddlrun::cli {

// `words`: those behind ddlrun, the last one is being typed. Prints nothing but the answer; returns 0.
int run_completion(System& system, const std::vector<std::string>& words);

}  // namespace ddlrun::cli
