// SPDX-License-Identifier: MIT
#include "doctor/gather/mounts.hpp"

#include "base/text/text.hpp"

namespace ddlrun::doctor {

namespace {

bool is_octal(std::string_view digits) {
  return digits.size() == 3 && digits[0] <= '3' &&
         digits.find_first_not_of("01234567") == std::string_view::npos;
}

// "\\040" is a blank there.
std::string unescape_mount(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(i + 1, 3);
    if (text[i] != '\\' || !is_octal(digits)) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
    i += 3;
  }
  return plain;
}

}  // namespace

std::optional<Mount> find_mount(std::string_view table, std::string_view path) {
  std::optional<Mount> best;
  for (const std::string_view line : split(table, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 3) continue;
    std::string point = unescape_mount(words[1]);
    const bool is_above = point == "/" || path == point || path.starts_with(point + "/");
    if (is_above && (!best || point.size() >= best->point.size()))
      best = Mount{std::move(point), unescape_mount(words[0]), std::string(words[2])};
  }
  return best;
}

}  // namespace ddlrun::doctor
