// SPDX-License-Identifier: MIT
// A man page in the man(7) language, which mandoc, groff and the nroff of other systems format. Pure.
#pragma once

#include "man/document.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::man {

// Text that roff prints as it is; "-" stays a minus, which can be copied.
std::string escape_roff(std::string_view text);

// The same for Markdown in a line: `code` and **bold** are bold, a link is its text.
std::string escape_inline(std::string_view markdown);

class Page {
 public:
  // `title` "ddlrun-launch", `section` '1', `date` "2026-11-25", `source` "ddlrun 0.1.0".
  Page(std::string_view title, char section, std::string_view date, std::string_view source);

  Page& section(std::string_view title);
  Page& subsection(std::string_view title);
  // Escaped text as a paragraph of short lines.
  Page& paragraph(const std::string& escaped);
  // Lines as they are.
  Page& lines(std::string_view text);
  // An entry of a list: escaped head and text.
  Page& entry(const std::string& head, const std::string& text);
  Page& blocks(const std::vector<Block>& blocks);
  // "name(1), other(5)".
  Page& references(const std::vector<std::string>& pages);

  const std::string& text() const { return text_; }

 private:
  void fill(const std::string& escaped);

  std::string text_;
  bool has_heading_ = false;  // nothing stands below the last heading yet
};

}  // namespace ddlrun::man
