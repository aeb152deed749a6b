// SPDX-License-Identifier: MIT
// IPv4 addresses with their network: "10.1.1.2/24". IPv6 is left out: Open MPI 4.1's TCP takes IPv4 networks
// only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::doctor {

struct Ipv4 {
  std::uint32_t bits = 0;
  int prefix = 32;

  std::uint32_t mask() const { return prefix == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix); }
  bool in_network_of(const Ipv4& other) const {
    return prefix == other.prefix && (bits & mask()) == (other.bits & mask());
  }
  bool is_loopback() const { return (bits >> 24) == 127; }
  bool operator==(const Ipv4&) const = default;
};

// "10.1.1.2" (prefix 32) or "10.1.1.2/24"; nothing for anything else, IPv6 included.
std::optional<Ipv4> parse_ipv4(std::string_view text);
std::string render_address(const Ipv4& address);  // "10.1.1.2"
std::string render_network(const Ipv4& address);  // "10.1.1.0/24"

}  // namespace ddlrun::doctor
