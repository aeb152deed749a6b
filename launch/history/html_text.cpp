// SPDX-License-Identifier: MIT
#include "launch/history/html_text.hpp"

#include <fmt/format.h>

namespace ddlrun::run_report {

namespace {

bool continues(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// The bytes of the UTF-8 character in front, 1 to 4; 0 where there is none: overlong forms, surrogates and
// what is beyond U+10FFFF are none.
std::size_t utf8_length(std::string_view text) {
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

// C0 without tab and newline, DEL, C1.
bool is_control(std::string_view character, bool lines) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (lines && (first == '\n' || first == '\t')) return false;
  if (character.size() == 2) return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return character.size() == 1 && (first < 0x20 || first == 0x7f);
}

void append_escaped_html(std::string& html, std::string_view character) {
  switch (character[0]) {
    case '&':
      html += "&amp;";
      break;
    case '<':
      html += "&lt;";
      break;
    case '>':
      html += "&gt;";
      break;
    case '"':
      html += "&quot;";
      break;
    case '\'':
      html += "&#39;";
      break;
    default:
      html += character;
  }
}

}  // namespace

std::string escape_html(std::string_view text, std::size_t limit, bool lines) {
  std::string html;
  std::size_t taken = 0;
  while (taken < text.size()) {
    if (taken >= limit) return html + "...";
    std::size_t length = utf8_length(text.substr(taken));
    const bool bad = length == 0;
    if (bad) length = 1;
    const std::string_view character = text.substr(taken, length);
    taken += length;
    if (!bad && !is_control(character, lines)) {
      append_escaped_html(html, character);
      continue;
    }
    for (const char byte : character) html += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return html;
}

std::string render_file_link(std::string_view path) {
  std::string link;
  for (const char byte : path) {
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    const bool plain = letter || (byte >= '0' && byte <= '9') ||
                       std::string_view("/._~-").find(byte) != std::string_view::npos;
    link += plain ? std::string(1, byte) : fmt::format("%{:02X}", static_cast<unsigned char>(byte));
  }
  return link;
}

}  // namespace ddlrun::run_report
