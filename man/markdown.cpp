// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "man/document.hpp"

#include <algorithm>

namespace ddlrun::man {

namespace {

constexpr std::string_view code_indent = "    ";

// "| a | b\|c |" -> {"a", "b|c"}.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|') {
      cells.emplace_back(trim(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

// "12. text" -> 12; 0: the line is no item of a numbered list.
int number_of(std::string_view line) {
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits == 0 || digits > 2 || digits == line.npos || !line.substr(digits).starts_with(". ")) return 0;
  return static_cast<int>(parse_unsigned(line.substr(0, digits)).value_or(0));
}

bool is_rule(const std::vector<std::string>& cells) {
  return std::all_of(cells.begin(), cells.end(),
                     [](const std::string& cell) { return cell.find_first_not_of("-:") == cell.npos; });
}

class MarkdownReader {
 public:
  std::vector<Block> read(std::string_view text) {
    for (const std::string_view line : split(text, '\n')) take(line);
    for (Block& block : blocks_) {
      while (block.kind == BlockKind::code && block.text.ends_with("\n\n")) block.text.pop_back();
    }
    return std::move(blocks_);
  }

 private:
  bool is_open(BlockKind kind) const { return open_ && blocks_.back().kind == kind; }

  Block& begin(BlockKind kind) {
    open_ = true;
    blocks_.push_back({kind, 0, "", {}});
    return blocks_.back();
  }

  void take(std::string_view line) {
    if (trim(line).empty()) {
      if (is_open(BlockKind::code)) blocks_.back().text += "\n";  // perhaps between two of its lines
      open_ = is_open(BlockKind::code);
      return;
    }
    const bool in_text = is_open(BlockKind::item) || is_open(BlockKind::paragraph);
    const std::size_t indent = line.find_first_not_of(' ');
    // A table of a list's item is indented as the item is.
    if (indent < code_indent.size() && line[indent] == '|') line.remove_prefix(indent);
    if (line.starts_with(code_indent) && !in_text) {
      Block& block = is_open(BlockKind::code) ? blocks_.back() : begin(BlockKind::code);
      block.text += std::string(line.substr(code_indent.size())) + "\n";
    } else if (line.starts_with('#')) {
      Block& block = begin(BlockKind::heading);
      block.level = static_cast<int>(line.find_first_not_of('#'));
      block.text = trim(line.substr(static_cast<std::size_t>(block.level)));
      open_ = false;
    } else if (line.starts_with('|')) {
      Block& block = is_open(BlockKind::table) ? blocks_.back() : begin(BlockKind::table);
      std::vector<std::string> cells = cells_of(line);
      if (!is_rule(cells)) block.rows.push_back(std::move(cells));
    } else if (line.starts_with("- ")) {
      begin(BlockKind::item).text = trim(line.substr(2));
    } else if (const int number = number_of(line); number > 0 && !is_open(BlockKind::paragraph)) {
      Block& block = begin(BlockKind::item);
      block.level = number;
      block.text = trim(line.substr(line.find(' ')));
    } else {
      Block& block = in_text ? blocks_.back() : begin(BlockKind::paragraph);
      if (!block.text.empty()) block.text += ' ';
      block.text += trim(line);
    }
  }

  std::vector<Block> blocks_;
  bool open_ = false;
};

}  // namespace

std::vector<Block> parse_markdown(std::string_view text) { return MarkdownReader().read(text); }

std::vector<Block> section_of(const std::vector<Block>& document, std::string_view title) {
  std::vector<Block> section;
  int level = 0;
  for (const Block& block : document) {
    if (block.kind == BlockKind::heading) {
      if (level > 0 && block.level <= level) break;
      if (level == 0 && block.text == title) {
        level = block.level;
        continue;
      }
    }
    if (level > 0) section.push_back(block);
  }
  return section;
}

}  // namespace ddlrun::man
