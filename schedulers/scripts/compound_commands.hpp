// SPDX-License-Identifier: MIT
// The loops and conditions of a script that are open at a line.
#pragma once

#include "base/text/shell_lexer.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::job_scripts {

struct CompoundCommand {
  std::string keyword;             // for, while, until, if, case, {
  std::string text;                // its line
  std::vector<std::string> words;  // behind "for NAME in"; empty for any other
  std::string variable;            // NAME
  int line = 0;
};

class CompoundCommands {
 public:
  // Reads a line's commands, in order.
  void take(const ScriptLine& line, const std::vector<ShellCommand>& commands);
  bool is_open() const { return !open_.empty(); }
  // The innermost loop around a command of this line, else the innermost other one; nothing where none is
  // open.
  std::optional<CompoundCommand> around(const ScriptLine& line,
                                        const std::vector<ShellCommand>& commands) const;

 private:
  std::vector<CompoundCommand> open_;
};

// Why a job file cannot have the program in it, and what to write instead.
std::string explain_compound(const CompoundCommand& command);

}  // namespace ddlrun::job_scripts
