// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace ddlrun {

// From the first `begin` to the end of that line, without the newline; empty where the text has none. A
// program's document among the lines of its launcher.
constexpr std::string_view line_from(std::string_view text, std::string_view begin) {
  const std::size_t at = text.find(begin);
  return at == std::string_view::npos ? std::string_view() : text.substr(at, text.find('\n', at) - at);
}

}  // namespace ddlrun
