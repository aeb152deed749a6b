// SPDX-License-Identifier: MIT
#include "man/roff.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::man {

namespace {

constexpr std::size_t line_width = 78;  // mandoc -T lint reports input lines above 80 bytes

// A line of text must not begin with a control character.
std::string guard_line(std::string line) {
  return line.starts_with('.') || line.starts_with('\'') ? "\\&" + line : line;
}

std::string escape_character(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '-':
      return "\\-";
    case '~':
      return "\\(ti";
    case '^':
      return "\\(ha";
    case '`':
      return "\\(ga";
    default:
      return std::string(1, c);
  }
}

// The cells behind the first one. An entry has no columns: of several, each cell gets the head of its column.
std::vector<std::string> described_cells(const std::vector<std::string>& heads,
                                         const std::vector<std::string>& cells) {
  std::vector<std::string> described(cells.begin() + 1, cells.end());
  if (described.size() < 2 || heads.size() != cells.size()) return described;
  for (std::size_t i = 0; i < described.size(); ++i) described[i] = heads[i + 1] + ": " + described[i];
  return described;
}

// For an argument of a macro.
std::string quote_argument(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '"' ? "\\(dq" : escape_character(c);
  return '"' + escaped + '"';
}

}  // namespace

std::string escape_roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += escape_character(c);
  return escaped;
}

std::string escape_inline(std::string_view markdown) {
  std::string out;
  bool is_code = false, is_bold = false;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    const std::string_view rest = markdown.substr(i);
    const std::size_t middle = rest.find("]("), end = rest.find(')');
    if (rest[0] == '`') {
      is_code = !is_code;
      out += is_code ? "\\fB" : "\\fR";
    } else if (!is_code && rest.starts_with("**")) {
      is_bold = !is_bold;
      out += is_bold ? "\\fB" : "\\fR";
      ++i;
    } else if (!is_code && rest[0] == '[' && middle != rest.npos && end != rest.npos && middle < end &&
               rest.find(']') == middle) {
      out += escape_inline(rest.substr(1, middle - 1));
      i += end;
    } else {
      out += escape_character(rest[0]);
    }
  }
  return out;
}

Page::Page(std::string_view title, char section, std::string_view date, std::string_view source) {
  text_ = fmt::format(".\\\" Written by the build of ddlrun; do not edit.\n.TH {} {} {} {} {}\n.nh\n.ad l\n",
                      quote_argument(to_upper(title)), section, fmt::format("\"{}\"", date),
                      quote_argument(source), quote_argument("ddlrun manual"));
}

Page& Page::section(std::string_view title) {
  text_ += ".SH " + quote_argument(to_upper(title)) + "\n";
  has_heading_ = true;
  return *this;
}

Page& Page::subsection(std::string_view title) {
  text_ += ".SS " + quote_argument(title) + "\n";
  has_heading_ = true;
  return *this;
}

void Page::fill(const std::string& escaped) {
  std::string line;
  for (const std::string_view word : split_blanks(escaped, " \t\r\n")) {
    if (!line.empty() && line.size() + 1 + word.size() > line_width) {
      text_ += guard_line(line) + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  if (!line.empty()) text_ += guard_line(line) + "\n";
  has_heading_ = false;
}

Page& Page::paragraph(const std::string& escaped) {
  if (!has_heading_) text_ += ".PP\n";
  fill(escaped);
  return *this;
}

Page& Page::lines(std::string_view text) {
  if (!has_heading_) text_ += ".PP\n";
  text_ += ".RS 4\n.nf\n";
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (const std::string_view line : split(text, '\n')) text_ += guard_line(escape_roff(line)) + "\n";
  text_ += ".fi\n.RE\n";
  has_heading_ = false;
  return *this;
}

Page& Page::entry(const std::string& head, const std::string& text) {
  text_ += ".TP\n" + guard_line(head) + "\n";
  fill(text.empty() ? "\\&" : text);
  return *this;
}

Page& Page::blocks(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    switch (block.kind) {
      case BlockKind::heading:
        subsection(block.text);
        break;
      case BlockKind::paragraph:
        paragraph(escape_inline(block.text));
        break;
      case BlockKind::item:
        text_ += block.level > 0 ? fmt::format(".IP {}. 4\n", block.level) : ".IP \\(bu 2\n";
        fill(escape_inline(block.text));
        break;
      case BlockKind::code:
        lines(block.text);
        break;
      case BlockKind::table:
        for (std::size_t row = 1; row < block.rows.size(); ++row) {
          const std::vector<std::string>& cells = block.rows[row];
          entry(escape_inline(cells[0]), escape_inline(join(described_cells(block.rows[0], cells), "; ")));
        }
        break;
    }
  }
  return *this;
}

Page& Page::references(const std::vector<std::string>& pages) {
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const std::size_t open = pages[i].find('(');
    text_ += fmt::format(".BR {} {}{}\n", escape_roff(pages[i].substr(0, open)), pages[i].substr(open),
                         i + 1 < pages.size() ? "," : "");
  }
  has_heading_ = false;
  return *this;
}

}  // namespace ddlrun::man
