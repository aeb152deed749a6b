// SPDX-License-Identifier: MIT
// Commands that start an interpreter with a script: which of their words is the script.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

// "python3", "/usr/bin/python3.11".
bool is_python(std::string_view program);

// The index of the script in `command`: 1 in "bash run.sh", 2 in "python -u train.py"; 0 where the command
// starts its program directly. Nothing where no word is a file: "sh -c ...", "python -m module", but for
// "python -m mpi4py train.py", which runs the script itself.
std::optional<std::size_t> find_script(const std::vector<std::string>& command);

}  // namespace ddlrun
