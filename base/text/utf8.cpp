// SPDX-License-Identifier: MIT
#include "base/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun {

namespace {

bool continues(unsigned char byte) { return (byte & 0xc0) == 0x80; }

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(at(1)) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (first == 0xe0 && at(1) < 0xa0) return 0;
    if (first == 0xed && at(1) > 0x9f) return 0;
    return continues(at(1)) && continues(at(2)) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  if (first == 0xf0 && at(1) < 0x90) return 0;
  if (first == 0xf4 && at(1) > 0x8f) return 0;
  return continues(at(1)) && continues(at(2)) && continues(at(3)) ? 4 : 0;
}

std::size_t printable_length(std::string_view text) {
  const std::size_t length = utf8_length(text);
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (length == 1) return at(0) < 0x20 || at(0) == 0x7f ? 0 : 1;
  if (length == 2) {
    const bool is_c1 = at(0) == 0xc2 && at(1) < 0xa0;
    const bool turns = at(0) == 0xd8 && at(1) == 0x9c;  // U+061C
    return is_c1 || turns ? 0 : length;
  }
  if (length == 3 && at(0) == 0xe2) {
    // U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069
    const bool turns =
        (at(1) == 0x80 && (at(2) == 0x8e || at(2) == 0x8f || (at(2) >= 0xa8 && at(2) <= 0xae))) ||
        (at(1) == 0x81 && at(2) >= 0xa6 && at(2) <= 0xa9);
    if (turns) return 0;
  }
  return length;
}

std::string escape_json(std::string document) {
  const auto may_need_it = [](char c) { return static_cast<unsigned char>(c) >= 0x7f; };
  if (std::none_of(document.begin(), document.end(), may_need_it)) return document;
  std::string safe;
  for (std::string_view rest = document; !rest.empty();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(rest));
    const auto at = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(rest[i])); };
    // Ends of lines stand between the values; in strings the writer of the document has escaped them.
    if (printable_length(rest) > 0 || at(0) < 0x20 || utf8_length(rest) == 0)
      safe += rest.substr(0, length);
    else if (length == 1)
      safe += fmt::format("\\u{:04x}", at(0));
    else if (length == 2)
      safe += fmt::format("\\u{:04x}", (at(0) & 0x1f) << 6 | (at(1) & 0x3f));
    else
      safe += fmt::format("\\u{:04x}", (at(0) & 0x0f) << 12 | (at(1) & 0x3f) << 6 | (at(2) & 0x3f));
    rest.remove_prefix(length);
  }
  return safe;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace ddlrun
