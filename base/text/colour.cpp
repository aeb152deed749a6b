// SPDX-License-Identifier: MIT
#include "base/text/colour.hpp"

#include <utility>

namespace ddlrun {

namespace {

constexpr std::string_view red = "\x1b[1;31m", yellow = "\x1b[33m", cyan = "\x1b[36m", green = "\x1b[32m",
                           bold = "\x1b[1m", dim = "\x1b[2m", plain = "\x1b[0m";

// Behind a program's name or a place, and before any blank of the message itself.
constexpr std::pair<std::string_view, std::string_view> severities[] = {
    {": error: ", red}, {": warning: ", yellow}, {": note: ", cyan}};
// At the begin of a line.
constexpr std::pair<std::string_view, std::string_view> labels[] = {
    {"  at:", dim},           {"  why:", dim},      {"  try:", green},       {"cause:", red},
    {"most likely:", yellow}, {"at:", bold},        {"evidence:", bold},     {"try:", green},
    {"reference:", bold},     {"also seen:", bold}, {"first to fail:", bold}};

std::string painted(std::string_view line, std::size_t at, std::size_t length, std::string_view colour) {
  std::string text(line.substr(0, at));
  text.append(colour).append(line.substr(at, length)).append(plain).append(line.substr(at + length));
  return text;
}

std::string colour_line(std::string_view line) {
  for (const auto& [label, colour] : labels)
    if (line.starts_with(label)) return painted(line, 0, label.size(), colour);
  for (const auto& [word, colour] : severities) {
    const std::size_t at = line.find(word);
    const bool in_head =
        at != std::string_view::npos && line.substr(0, at).find(' ') == std::string_view::npos;
    if (in_head) return painted(line, at + 2, word.size() - 3, colour);
  }
  return std::string(line);
}

}  // namespace

std::string colour_messages(std::string_view text) {
  std::string coloured;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    coloured += colour_line(text.substr(0, end));
    if (end == std::string_view::npos) break;
    coloured += '\n';
    text.remove_prefix(end + 1);
  }
  return coloured;
}

}  // namespace ddlrun
