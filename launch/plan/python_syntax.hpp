// SPDX-License-Identifier: MIT
// Whether Python can read a script, by the Python that will run it.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

// The error of the script in "python3 train.py", with its line. Nothing where Python reads it, and where that
// is not known: another program, no such file or Python here, no answer in some seconds. Nothing is written,
// and nothing of the script or of the user's start-up files runs. `workdir`: for a relative path.
std::optional<Message> find_syntax_error(System& system, const std::vector<std::string>& program,
                                         const std::string& workdir);

}  // namespace ddlrun::launch
