// SPDX-License-Identifier: MIT
// Which command of a script is its program where no launcher starts one, and which lines behind it only wait.
#pragma once

#include "base/text/shell_lexer.hpp"
#include "schedulers/scripts/job_script.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace ddlrun::job_scripts {

// Lines behind the program that wait for it or pass its status on: "wait $PID", "rc=$?", "exit $rc",
// "while kill -0 $PID; do wait $PID; done".
bool is_end_of_script(const std::vector<ShellCommand>& commands);
bool only_prints(const std::vector<ShellCommand>& commands);
// The first of the commands at the end of the line that all belong to the end of the script.
std::size_t find_end_of_script(const std::vector<ShellCommand>& commands);

struct OwnProgram {
  int line = 0;
  std::size_t command = 0;  // of this line
};
// The last command that neither prepares, nor prints, nor waits: "python3 a.py" of "python3 a.py & wait".
// Nothing where a shell has to run the script as a whole: commands side by side, a condition, a pipeline, a
// here-document. In a loop only a command in the background counts, of which each turn starts one.
std::optional<OwnProgram> find_own_program(const JobScript& script);

// Commands in the background: they run beside each other.
std::size_t count_background(const JobScript& script);

}  // namespace ddlrun::job_scripts
