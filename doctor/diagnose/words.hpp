// SPDX-License-Identifier: MIT
// What a line of a log contains.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace ddlrun::diagnose {

constexpr std::size_t npos = std::string_view::npos;

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != npos; }

// The name behind the last separator, of Windows too.
inline std::string_view file_name_of(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == npos ? path : path.substr(slash + 1);
}

// `some`: an array or a list of texts.
inline bool has_any(std::string_view text, const auto& some) {
  return std::any_of(std::begin(some), std::end(some),
                     [text](std::string_view one) { return has(text, one); });
}
inline bool has_any(std::string_view text, std::initializer_list<std::string_view> some) {
  return has_any<std::initializer_list<std::string_view>>(text, some);
}
inline bool starts_with_any(std::string_view text, const auto& some) {
  return std::any_of(std::begin(some), std::end(some),
                     [text](std::string_view one) { return text.starts_with(one); });
}

}  // namespace ddlrun::diagnose
