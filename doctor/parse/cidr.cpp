// SPDX-License-Identifier: MIT
#include "doctor/parse/cidr.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::doctor {

std::optional<Ipv4> parse_ipv4(std::string_view text) {
  Ipv4 address;
  const auto slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto prefix = parse_unsigned(text.substr(slash + 1), 32);
    if (!prefix) return std::nullopt;
    address.prefix = static_cast<int>(*prefix);
  }
  const auto parts = split(text.substr(0, slash), '.');
  if (parts.size() != 4) return std::nullopt;
  for (const std::string_view part : parts) {
    const auto byte = parse_unsigned(part, 255);
    if (!byte || (part.size() > 1 && part[0] == '0')) return std::nullopt;
    address.bits = address.bits << 8 | static_cast<std::uint32_t>(*byte);
  }
  return address;
}

std::string render_address(const Ipv4& address) {
  return fmt::format("{}.{}.{}.{}", address.bits >> 24, address.bits >> 16 & 255, address.bits >> 8 & 255,
                     address.bits & 255);
}

std::string render_network(const Ipv4& address) {
  return fmt::format("{}/{}", render_address({address.bits & address.mask(), address.prefix}),
                     address.prefix);
}

}  // namespace ddlrun::doctor
