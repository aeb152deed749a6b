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
// "sh", "/bin/bash".
bool is_shell(std::string_view program);
// A program whose own words name the one that it starts: "numactl", "/usr/bin/timeout", "apptainer".
bool starts_another(std::string_view program);

// How a script beside the user is started: "python3 train.py", "./run.sh".
std::string render_script_start(const std::string& name);

// A Python script, by its name, without a "#!" line: the system runs such a file by the shell. `text` begins
// the file.
bool lacks_python_line(std::string_view path, std::string_view text);

// The index of the script in `command`: 1 in "bash run.sh", 2 in "python -u train.py"; 0 where the command
// starts its program directly. Nothing where no word is a file: "sh -c ...", "python -m module", but for
// "python -m mpi4py train.py", which runs the script itself.
std::optional<std::size_t> find_script(const std::vector<std::string>& command);

// The shell text that the command runs: that of "bash -c TEXT", else `script`, if a shell was named to run it
// or it begins with "#!" and a shell. "" otherwise.
std::string_view find_shell_text(const std::vector<std::string>& command, std::string_view script);

// The first command of a shell text that runs a Python script, from its "python" on; empty if there is none.
// A scan of words: of "$DIR/train.py" nothing is known.
std::vector<std::string> find_python_command(std::string_view shell_text);

}  // namespace ddlrun
