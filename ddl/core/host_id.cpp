// SPDX-License-Identifier: MIT
#include "ddl/core/host_id.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>

namespace ddl {
namespace {

std::string link_text(const char* path) {
  std::array<char, 64> text{};
  const ssize_t length = readlink(path, text.data(), text.size());
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "";
}

}  // namespace

HostId this_host_id() {
  std::array<char, 256> name{};
  HostId host;
  host.name = gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), host.mark);
  host.mark += " " + link_text("/proc/self/ns/mnt") + " " + link_text("/proc/self/ns/ipc");
  return host;
}

std::vector<std::string> name_hosts(const std::vector<HostId>& marks) {
  std::map<std::string, std::vector<std::string>> known;  // by name: marks as they first appear
  for (const HostId& host : marks) {
    auto& same = known[host.name];
    if (std::find(same.begin(), same.end(), host.mark) == same.end()) same.push_back(host.mark);
  }
  std::vector<std::string> names;
  for (const HostId& host : marks) {
    const auto& same = known[host.name];
    const auto place = std::find(same.begin(), same.end(), host.mark) - same.begin();
    names.push_back(same.size() == 1 ? host.name : fmt::format("{} ({})", host.name, place + 1));
  }
  return names;
}

}  // namespace ddl
