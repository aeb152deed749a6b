// SPDX-License-Identifier: MIT
// PosixHostInfo's names and interfaces.
#include "base/os/posix_host_info.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

namespace ddlrun {

namespace {

// "10.1.1.2", "fe80::1"; "" for a family that is neither.
std::string address_text(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  if (address->sa_family == AF_INET6) bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (bytes == nullptr || ::inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr)
    return {};
  return text.data();
}

int prefix_length(const sockaddr* mask) {
  if (mask == nullptr) return 0;
  const bool is_v6 = mask->sa_family == AF_INET6;
  std::array<std::uint8_t, 16> bytes{};
  if (is_v6) {
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr, 16);
  } else {
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in*>(mask)->sin_addr, 4);
  }
  int length = 0;
  for (const std::uint8_t byte : bytes) length += std::popcount(byte);
  return length;
}

int read_mtu(const std::string& interface) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return 0;
  ifreq request{};
  interface.copy(static_cast<char*>(request.ifr_name), IFNAMSIZ - 1);
  const int code = ::ioctl(socket, SIOCGIFMTU, &request);
  ::close(socket);
  return code == 0 ? request.ifr_mtu : 0;
}

NetworkInterface& find_or_add(std::vector<NetworkInterface>& all, const ifaddrs& entry) {
  const std::string name = entry.ifa_name;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (found != all.end()) return *found;
  NetworkInterface& added = all.emplace_back();
  added.name = name;
  added.up = (entry.ifa_flags & IFF_UP) != 0;
  added.running = (entry.ifa_flags & IFF_RUNNING) != 0;
  added.loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  added.mtu = read_mtu(name);
  return added;
}

void add_addresses(const addrinfo* list, int family, std::vector<std::string>& addresses) {
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != family) continue;
    const std::string text = address_text(entry->ai_addr);
    const bool known = std::find(addresses.begin(), addresses.end(), text) != addresses.end();
    if (!text.empty() && !known) addresses.push_back(text);
  }
}

}  // namespace

NameLookup PosixHostInfo::find_addresses(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_CANONNAME;
  addrinfo* list = nullptr;
  NameLookup result;
  const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (code != 0) {
    result.problem = code == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(code);
    return result;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  if (list->ai_canonname != nullptr) result.canonical = list->ai_canonname;
  add_addresses(list, AF_INET, result.addresses);
  add_addresses(list, AF_INET6, result.addresses);
  return result;
}

std::vector<NameLookup> PosixHostInfo::find_all_addresses(std::span<const std::string> names) {
  constexpr std::size_t most_threads = 64;
  std::vector<NameLookup> all(names.size());
  std::atomic<std::size_t> next{0};
  const auto look_up = [&] {
    for (std::size_t i = next++; i < names.size(); i = next++) all[i] = find_addresses(names[i]);
  };
  std::vector<std::jthread> threads;
  try {
    while (threads.size() + 1 < std::min(most_threads, names.size())) threads.emplace_back(look_up);
  } catch (const std::system_error&) {  // no more threads for this user: those that there are do it
  }
  look_up();
  threads.clear();
  return all;
}

std::vector<NetworkInterface> PosixHostInfo::interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<NetworkInterface> all;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    NetworkInterface& interface = find_or_add(all, *entry);
    if (entry->ifa_addr == nullptr) continue;
    const std::string address = address_text(entry->ifa_addr);
    if (address.empty()) continue;
    interface.addresses.push_back(fmt::format("{}/{}", address, prefix_length(entry->ifa_netmask)));
  }
  return all;
}

}  // namespace ddlrun
