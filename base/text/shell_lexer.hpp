// SPDX-License-Identifier: MIT
// Just enough shell to check a script: its commands, cut into words. Nothing is expanded.
#pragma once

#include "base/text/shell_lines.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

// Of the C locale.
bool is_blank(char c);
bool is_name_begin(char c);  // of a variable
bool is_name(char c);

struct ShellWord {
  std::string text;    // without quotes; "$NAME" stays as it is
  std::size_t at = 0;  // in the line's text
  std::size_t end = 0;
  bool quoted = false;         // some of it
  bool bare_variable = false;  // a "$..." outside quotes
};

struct ShellCommand {
  std::vector<ShellWord> assignments;   // NAME=value in front, or behind export and its like
  std::vector<ShellWord> words;         // the command and its arguments
  std::vector<ShellWord> redirections;  // their targets
  std::vector<std::string> here_ends;   // delimiters of here-documents
  std::vector<std::string> keywords;    // if, then, do, {, ... that stood in front
  bool background = false;              // ended by '&'
  bool piped = false;                   // ended by '|'

  std::string name() const { return words.empty() ? "" : words.front().text; }
  bool sets_variables() const;
  std::vector<std::string> texts() const;  // of the words
  // "mpirun" of "/usr/bin/mpirun"
  std::string base_name() const;
  // Without the words in front that run the program behind them: "exec", "env A=B", "timeout -k 5 60".
  void drop_wrappers();
};

std::vector<ShellCommand> parse_commands(const ScriptLine& line);

// The places of each '$' that the shell itself expands in a word, written as in the script: not in single
// quotes, nor behind a backslash.
std::vector<std::size_t> find_expansions(std::string_view written);
// Whether one of them begins `variable` ("$NAME").
bool shell_expands(std::string_view written, std::string_view variable);

}  // namespace ddlrun
