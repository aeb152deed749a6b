// SPDX-License-Identifier: MIT
#include "base/text/ip_address.hpp"

#include <arpa/inet.h>

#include <array>
#include <string>

namespace ddlrun {

bool is_ip_address(std::string_view text) {
  const std::string word(text);  // inet_pton reads up to a zero byte
  if (word.size() != std::char_traits<char>::length(word.c_str())) return false;
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, word.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, word.c_str(), bytes.data()) == 1;
}

}  // namespace ddlrun
