// SPDX-License-Identifier: MIT
// The part of Markdown that docs/ uses, as blocks. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::man {

enum class BlockKind { heading, paragraph, item, code, table };

struct Block {
  BlockKind kind = BlockKind::paragraph;
  int level = 0;                               // heading: 1 for "#"; item: its number, 0 for "- "
  std::string text;                            // lines joined by blanks; code: lines as they are
  std::vector<std::vector<std::string>> rows;  // table: the first is its head
};

// Headings, paragraphs, "- " and "1. " items, indented code and tables.
std::vector<Block> parse_markdown(std::string_view text);

// The blocks below the heading `title`, up to the next one of its level; without it. Empty: there is none.
std::vector<Block> section_of(const std::vector<Block>& document, std::string_view title);

}  // namespace ddlrun::man
