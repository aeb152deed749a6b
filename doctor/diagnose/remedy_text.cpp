// SPDX-License-Identifier: MIT
#include "doctor/diagnose/remedy_text.hpp"

#include "doctor/diagnose/words.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

RemedyParts split_remedy(const std::string& remedy) {
  const std::size_t mark = std::min(remedy.find(comment_mark), remedy.size());
  return {remedy.substr(0, mark), remedy.substr(mark)};
}

std::vector<std::string> split_commands(std::string_view commands) {
  const bool is_one = has(commands, "; do ") || has_quotes(commands);
  std::vector<std::string> parts;
  while (!commands.empty()) {
    const std::size_t end = is_one ? commands.size() : std::min(commands.find("; "), commands.size());
    parts.emplace_back(commands.substr(0, end));
    commands.remove_prefix(std::min(commands.size(), end + 2));
  }
  return parts;
}

bool has_quotes(std::string_view command) { return command.find_first_of("'\"`") != npos; }

std::string replace_text(std::string text, std::string_view old, std::string_view by) {
  for (std::size_t at = text.find(old); at != npos; at = text.find(old, at + by.size()))
    text.replace(at, old.size(), by);
  return text;
}

}  // namespace ddlrun::diagnose
