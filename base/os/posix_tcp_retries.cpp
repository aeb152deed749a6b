// SPDX-License-Identifier: MIT
#include "base/os/posix_system.hpp"
#include "base/os/tcp_retries.hpp"
#include "base/text/text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <vector>

namespace ddlrun {

namespace {

// An address as the kernel's tables have it: words of 32 bits in this machine's order. "" if it is none.
std::string table_address(std::string_view text) {
  std::array<std::uint32_t, 4> words{};
  const std::string name(text.substr(0, text.find('%')));
  const bool is_v6 = name.find(':') != std::string::npos;
  if (::inet_pton(is_v6 ? AF_INET6 : AF_INET, name.c_str(), words.data()) != 1) return {};
  std::string hex;
  for (int i = 0; i < (is_v6 ? 4 : 1); ++i) hex += fmt::format("{:08X}", words[static_cast<std::size_t>(i)]);
  return hex;
}

// An IPv4 address is the end of the one that stands for it in IPv6.
bool is_end(std::string_view found, const std::string& address, std::uint64_t port) {
  const std::string port_text = fmt::format(":{:04X}", port);
  if (address.empty() || !found.ends_with(port_text)) return false;
  return found.substr(0, found.size() - port_text.size()).ends_with(address);
}

}  // namespace

int find_tcp_retries(std::string_view table, const std::string& ssh_connection) {
  const auto ends = split(ssh_connection, ' ');
  if (ends.size() != 4) return 0;
  const auto far_port = parse_unsigned(ends[1], 65535), near_port = parse_unsigned(ends[3], 65535);
  if (!far_port || !near_port) return 0;
  const std::string far = table_address(ends[0]), near = table_address(ends[2]);
  for (const std::string_view line : split(table, '\n')) {
    const auto words =
        split_blanks(line, " ");  // number, ends, state, queues, timer, retries, user, probes, ...
    if (words.size() < 9 || !is_end(words[1], near, *near_port) || !is_end(words[2], far, *far_port))
      continue;
    if (words[5].starts_with("04:")) return static_cast<int>(parse_unsigned(words[8], 1000).value_or(0));
    int retries = 0;
    if (words[5].starts_with("01:")) {
      std::from_chars(words[6].data(), words[6].data() + words[6].size(), retries, 16);
    }
    return retries;
  }
  return 0;
}

int read_tcp_retries(const std::string& ssh_connection) {
  if (ssh_connection.empty()) return 0;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(path);
    const std::string table{std::istreambuf_iterator<char>(file), {}};
    if (const int retries = find_tcp_retries(table, ssh_connection); retries > 0) return retries;
  }
  return 0;
}

}  // namespace ddlrun
