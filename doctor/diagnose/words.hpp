// SPDX-License-Identifier: MIT
// The words of a line of a log.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

constexpr std::size_t npos = std::string_view::npos;

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != npos; }

// The name behind the last separator, of Windows too.
inline std::string_view file_name_of(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == npos ? path : path.substr(slash + 1);
}

inline std::vector<std::string_view> words_of(std::string_view text, std::string_view separators = " \t") {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(separators); at != npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return words;
}

}  // namespace ddlrun::diagnose
