// SPDX-License-Identifier: MIT
// A shell script as the program whose own lines start ranks: each rank of the job would start them again.
#pragma once

#include "base/os/system.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace ddlrun::launch {

struct ScriptLauncher {
  std::size_t line = 0;  // from 1
  Command words;         // "mpirun -np 4 ./solver", as far as the line shows
};

// The first line of a shell text that starts a launcher with a program; line 0 if there is none, or if the
// text names a variable of ddlrun. A torchrun that stays on its host counts only where `ranks` are more than
// `hosts`.
ScriptLauncher find_launcher_in_script(std::string_view text, std::size_t ranks, std::size_t hosts);

// The warning for `program`, a script or "bash -c TEXT"; "" where it starts none, cannot be read or is no
// shell script. A path without a leading '/' is one in `workdir`.
std::string remark_on_script(System& system, const Command& program, const std::string& workdir,
                             std::size_t ranks, std::size_t hosts);

}  // namespace ddlrun::launch
