// SPDX-License-Identifier: MIT
#include "doctor/parse/hex.hpp"

#include <charconv>
#include <system_error>

namespace ddlrun::doctor {

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (problem != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace ddlrun::doctor
