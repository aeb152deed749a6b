// SPDX-License-Identifier: MIT
// The lines of a shell script: continued lines are joined, here-documents are set apart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun {

// Where something stands in the file; both from 1.
struct Place {
  int line = 0;
  int column = 0;
};

struct ScriptLine {
  int line = 0;      // of its first physical line
  std::string text;  // continuation lines joined
  int last_line = 0;
  bool damaged = false;    // a web page's "</p>" was taken for the backslash that it replaced
  bool here_text = false;  // text of a here-document, not shell
  // Which physical line begins at which byte of `text`.
  std::vector<std::pair<std::size_t, int>> pieces;
};
Place place_in(const ScriptLine& line, std::size_t at);

// Joins what '\' (or the "</p>" that a web page made of it) or an open quote, "$(" or array continues; leaves
// out comments and empty lines, but not the text of here-documents.
std::vector<ScriptLine> read_shell_lines(const std::vector<std::string>& lines);

// The tail of a line that a web page put where a backslash was: "</p>", "<br>"; empty if there is none.
std::string_view damaged_tail(std::string_view line);

}  // namespace ddlrun
