// SPDX-License-Identifier: MIT
// A path in a command line that a hint proposes.
#pragma once

#include <string>
#include <string_view>

namespace ddl {

// 'a path', whatever it contains: a shell reads it as one word.
inline std::string quote_shell(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace ddl
