// SPDX-License-Identifier: MIT
// "1 rank", "2 ranks".
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace ddl {

template <typename Count>
std::string count_text(Count count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace ddl
