// SPDX-License-Identifier: MIT
// Texts in places of fixed size, for what other processes read: cut where they are too long.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace ddl {

template <std::size_t size>
void store_text(char (&place)[size], std::string_view text) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(place, text.data(), length);
  place[length] = '\0';
}

template <std::size_t size>
std::string text_in(const char (&place)[size]) {
  return {place, static_cast<std::size_t>(std::find(place, place + size, '\0') - place)};
}

}  // namespace ddl
