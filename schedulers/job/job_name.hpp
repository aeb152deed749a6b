// SPDX-License-Identifier: MIT
// The name of a job that has none: that of its program.
#pragma once

#include "base/os/system.hpp"

#include <cstddef>
#include <string>

namespace ddlrun::schedulers {

// "train" for "python3 src/train.py" and for "sh -c 'python3 src/train.py'", "sh" where the shell's text is
// more than one simple command, "ddl-train" where the bundled trainer runs; "ddlrun" where that has no
// letter. A letter first, then letters, digits and . _ + -, at most `longest`.
std::string job_name_of(const Command& program, std::size_t longest);

}  // namespace ddlrun::schedulers
