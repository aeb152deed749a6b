// SPDX-License-Identifier: MIT
#include "doctor/diagnose/sanitize.hpp"

#include <fmt/format.h>

namespace ddlrun::diagnose {

namespace {

unsigned char byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

// The length of a valid, printable UTF-8 character of two bytes or more at the beginning of `text`, or 0.
std::size_t wide_character(std::string_view text) {
  const unsigned char lead = byte_at(text, 0);
  const std::size_t length = lead >= 0xf0 && lead <= 0xf4  ? 4
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte_at(text, 1);
  const bool is_c1 = lead == 0xc2 && second < 0xa0;
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool too_high = lead == 0xf4 && second >= 0x90;
  // U+2028 to U+202E and U+2066 to U+2069 end lines or turn the direction of writing.
  const unsigned char third = length == 3 ? byte_at(text, 2) : 0;
  const bool turns = lead == 0xe2 && ((second == 0x80 && third >= 0xa8 && third <= 0xae) ||
                                      (second == 0x81 && third >= 0xa6 && third <= 0xa9));
  return is_c1 || overlong || surrogate || too_high || turns ? 0 : length;
}

}  // namespace

std::string sanitize(std::string_view text, std::size_t limit) {
  std::string safe;
  std::size_t at = 0;
  while (at < text.size() && at < limit) {
    const unsigned char byte = byte_at(text, at);
    const std::size_t wide = byte < 0x80 ? 0 : wide_character(text.substr(at));
    if (wide > 0) {
      safe += text.substr(at, wide);
      at += wide;
      continue;
    }
    if (byte == '\t')
      safe += ' ';
    else if (byte < 0x20 || byte >= 0x7f)
      safe += fmt::format("\\x{:02x}", byte);
    else
      safe += text[at];
    ++at;
  }
  return at < text.size() ? safe + "..." : safe;
}

}  // namespace ddlrun::diagnose
