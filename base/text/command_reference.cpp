// SPDX-License-Identifier: MIT
#include "base/text/command_reference.hpp"

#include "base/text/text.hpp"

#include <algorithm>

namespace ddlrun {

std::string_view source_of_value(std::string_view value) {
  for (const std::string_view word : split(value, '|')) {
    if (word == "FILE" || word == "PATH") return "files";
    if (word == "DIR") return "directories";
  }
  return "";
}

std::vector<std::string> choices_of_value(std::string_view value) {
  std::vector<std::string> choices;
  const auto words = split(value, '|');
  if (words.size() < 2) return choices;
  for (const std::string_view word : words) {
    if (std::none_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
      choices.emplace_back(word);
  }
  return choices;
}

}  // namespace ddlrun
