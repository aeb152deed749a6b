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

// "cannot convert an object of type": the next line has the rest.
inline bool ends_within_sentence(std::string_view text) {
  constexpr std::string_view words[] = {" of",   " to",  " type", " the", " a",   " in",   " with",
                                        " from", " for", " and",  " or",  " not", " than", " at"};
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::any_of(std::begin(words), std::end(words),
                     [text](std::string_view word) { return text.ends_with(word); });
}

}  // namespace ddlrun::diagnose
