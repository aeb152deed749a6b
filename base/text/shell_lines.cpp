// SPDX-License-Identifier: MIT
#include "base/text/shell_lines.hpp"

#include "base/text/shell_lexer.hpp"
#include "base/text/text.hpp"

#include <algorithm>
#include <deque>

namespace ddlrun {

namespace {

constexpr std::size_t longest_quote = 200;  // lines; what is open longer is an error, not a text

// What is open at the end of a line.
struct OpenText {
  char quote = 0;
  int depth = 0;  // of parentheses in "$(...)" and in an array, "NAME=(...)"
  bool in_comment = false;
  bool is_closed() const { return quote == 0 && depth == 0; }
};

OpenText read_open_text(std::string_view text, OpenText open) {
  bool in_word = open.quote != 0;
  open.in_comment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (open.quote != 0) {
      if (open.quote == '"' && c == '\\') {
        ++i;
      } else if (c == open.quote) {
        open.quote = 0;
      }
    } else if (c == '\\') {
      ++i;
    } else if (c == '\'' || c == '"') {
      open.quote = c;
    } else if (c == '#' && !in_word) {
      open.in_comment = true;
      return open;
    } else if (c == '(' && (open.depth > 0 || (i > 0 && (text[i - 1] == '$' || text[i - 1] == '=')))) {
      ++open.depth;
    } else if (c == ')' && open.depth > 0) {
      --open.depth;
    }
    in_word = !is_blank(c) && c != ';' && c != '(';
  }
  return open;
}

// The index of the line that closes what is open before lines[index], or 0 where none of `most` lines does.
std::size_t find_closing_line(const std::vector<std::string>& lines, std::size_t index, std::size_t most,
                              OpenText open) {
  for (std::size_t end = std::min(lines.size(), index + most); index < end; ++index) {
    open = read_open_text(lines[index], open);
    if (open.is_closed()) return index;
  }
  return 0;
}

bool ends_with_backslash(std::string_view line) {
  std::size_t count = 0;
  while (count < line.size() && line[line.size() - 1 - count] == '\\') ++count;
  return count % 2 == 1;
}

bool is_empty_or_comment(std::string_view line) {
  const std::string_view bare = trim(line);
  return bare.empty() || bare.front() == '#';
}

void add_line(ScriptLine& joined, std::string_view text, int number) {
  joined.pieces.emplace_back(joined.text.size(), number);
  joined.text += text;
  joined.last_line = number;
}

// The logical line that begins at `index`; moves it behind.
ScriptLine join_from(const std::vector<std::string>& lines, std::size_t& index) {
  ScriptLine joined;
  joined.line = static_cast<int>(index) + 1;
  const std::size_t begin = index;
  std::size_t group_end = 0;  // the line that closes an array or "$("
  OpenText open;
  for (;;) {
    std::string_view line = lines[index];
    const int number = static_cast<int>(index) + 1;
    const bool in_group = index < group_end;
    ++index;
    const std::string_view tail = damaged_tail(line);
    const bool has_next = index < lines.size();
    open = read_open_text(line, open);
    if (!in_group && open.quote == 0 && open.depth > 0) {
      group_end = find_closing_line(lines, index, longest_quote, open);
      if (group_end == 0) open.depth = 0;
    }
    if (open.quote == 0 && !tail.empty()) {
      line.remove_suffix(tail.size());
      joined.damaged = true;
      add_line(joined, line, number);
      if (has_next) joined.text += ' ';
      if (!has_next || trim(lines[index]).empty()) return joined;
    } else if (open.quote != '\'' && !open.in_comment && ends_with_backslash(line) && has_next) {
      line.remove_suffix(1);
      add_line(joined, line, number);
    } else if (has_next && (index <= group_end || (open.quote != 0 && index - begin < longest_quote))) {
      add_line(joined, line, number);
      joined.text += '\n';
    } else {
      add_line(joined, line, number);
      return joined;
    }
  }
}

}  // namespace

Place place_in(const ScriptLine& line, std::size_t at) {
  Place place{line.line, static_cast<int>(at) + 1};
  const auto behind = std::ranges::upper_bound(line.pieces, at, {}, &std::pair<std::size_t, int>::first);
  if (behind != line.pieces.begin()) {
    const auto& [begin, number] = *std::prev(behind);
    place = {number, static_cast<int>(at - begin) + 1};
  }
  return place;
}

std::string_view damaged_tail(std::string_view line) {
  for (const std::string_view mark : {"</p>", "<br>", "<br/>", "<br />", "</br>"}) {
    std::string_view bare = line;
    while (!bare.empty() && is_blank(bare.back())) bare.remove_suffix(1);
    if (!bare.ends_with(mark)) continue;
    bare.remove_suffix(mark.size());
    return line.substr(bare.size());
  }
  return {};
}

std::vector<ScriptLine> read_shell_lines(const std::vector<std::string>& lines) {
  std::vector<ScriptLine> body;
  std::deque<std::string> here_ends;
  for (std::size_t index = 0; index < lines.size();) {
    if (!here_ends.empty()) {
      const int number = static_cast<int>(index) + 1;
      ScriptLine text{number, lines[index], number, false, true, {}};
      text.pieces.emplace_back(0, number);
      if (trim(lines[index]) == here_ends.front()) here_ends.pop_front();
      body.push_back(std::move(text));
      ++index;
    } else if (is_empty_or_comment(lines[index])) {
      ++index;
    } else {
      body.push_back(join_from(lines, index));
      for (const ShellCommand& command : parse_commands(body.back()))
        here_ends.insert(here_ends.end(), command.here_ends.begin(), command.here_ends.end());
    }
  }
  return body;
}

}  // namespace ddlrun
