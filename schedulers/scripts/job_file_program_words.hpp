// SPDX-License-Identifier: MIT
// The words of the program on its line -> the key program, whose words no shell expands.
#pragma once

#include "base/os/system.hpp"
#include "base/text/shell_lexer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ddlrun::job_scripts {

struct ProgramWords {
  std::vector<std::string> words;
  std::vector<std::string> passed_on;  // variables in them whose values come from the job
  std::vector<std::string> renamed;    // of another launcher; the words have those of ddlrun
};

// `before`, then from word `first` on. Words that the script's shell expands get a shell on each rank. With
// `is_ranks` ddlrun launch starts them, and numbers them by its own variables.
ProgramWords read_program_words(const ScriptLine& line, const ShellCommand& command, std::size_t first,
                                const Command& before, bool is_ranks);

std::string explain_renamed(const std::vector<std::string>& renamed);

}  // namespace ddlrun::job_scripts
