// SPDX-License-Identifier: MIT
// Texts of other ranks, which people read on a terminal: a rank may send any bytes.
#pragma once

#include "ddl/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ddl {

// Control characters but for the newline become "?": a terminal would obey them. C1, U+0080 to U+009F, is
// C2 80 to C2 9F in UTF-8.
inline std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool is_c1 = byte == 0xc2 && next >= 0x80 && next <= 0x9f;
    const bool is_c0 = (byte < 0x20 && byte != '\n') || byte == 0x7f;
    shown += is_c0 || is_c1 ? '?' : text[i];
    if (is_c1) ++i;
  }
  return shown;
}

// An Error that another rank has sent.
inline Error error_of_peer(std::int64_t fault, std::string_view what, std::string_view where,
                           std::string_view hint) {
  const bool is_known = fault >= 0 && fault <= static_cast<std::int64_t>(Fault::unsupported);
  return {is_known ? static_cast<Fault>(fault) : Fault::mismatch, printable(what), printable(where),
          printable(hint)};
}

}  // namespace ddl
