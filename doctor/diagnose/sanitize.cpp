// SPDX-License-Identifier: MIT
#include "doctor/diagnose/sanitize.hpp"

#include "base/text/text.hpp"

#include <algorithm>
#include <utility>

namespace ddlrun::diagnose {

std::string sanitize(std::string_view text, std::size_t limit) {
  std::string plain(text.substr(0, limit + 4));
  std::replace(plain.begin(), plain.end(), '\t', ' ');
  return printable(plain, limit);
}

std::string shorten(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const auto is_inside = [&text](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  std::size_t head = (limit - 3) / 2, tail = text.size() - (limit - 3 - head);
  while (head > 0 && is_inside(head)) --head;  // not inside a character
  while (tail < text.size() && is_inside(tail)) ++tail;
  return text.substr(0, head) + "..." + text.substr(tail);
}

}  // namespace ddlrun::diagnose
