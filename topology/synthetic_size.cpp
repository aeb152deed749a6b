// SPDX-License-Identifier: MIT
#include "topology/synthetic_size.hpp"

#include "base/text/text.hpp"

#include <string>

namespace ddlrun::topology {

std::uint64_t synthetic_size(std::string_view text) {
  std::string outside;  // without what stands in () or []
  int depth = 0;
  for (const char c : text) {
    if (c == ')' || c == ']') --depth;
    if (depth == 0) outside += c == ')' || c == ']' ? ' ' : c;
    if (c == '(' || c == '[') ++depth;
  }
  std::uint64_t size = 1;
  for (std::string_view word : split(outside, ' ')) {
    word = word.substr(0, word.find_first_of("(["));
    const std::string_view digits = word.substr(word.find(':') + 1);  // npos + 1 = 0: "2 4 2" has no names
    if (digits.empty() || digits.front() < '0' || digits.front() > '9') continue;
    const std::uint64_t count = parse_unsigned(digits).value_or(UINT64_MAX);
    if (__builtin_mul_overflow(size, count, &size)) return UINT64_MAX;
  }
  return size;
}

}  // namespace ddlrun::topology
