// SPDX-License-Identifier: MIT
#include "base/os/path_owner.hpp"
#include "base/os/posix_system.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

extern char** environ;

namespace ddlrun {

namespace {

std::vector<std::string> interface_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) != nullptr) {
      addresses.emplace_back(text.data());
    }
  }
  ::freeifaddrs(list);
  return addresses;
}

std::string read_link(const char* path) {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t n = ::readlink(path, buffer.data(), buffer.size());
  return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : std::string();
}

// $PWD where it is this directory, as mpirun takes it: hosts may have it behind different links.
std::string typed_workdir() {
  char* const name = ::get_current_dir_name();
  std::string directory = name == nullptr ? "" : name;
  std::free(name);
  return directory;
}

}  // namespace

Environment read_environment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      environment.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) environment.host_name = name.data();
  environment.own_names = interface_addresses();
  environment.own_names.push_back("localhost");
  environment.own_names.push_back(environment.host_name);
  environment.own_names.push_back(environment.host_name.substr(0, environment.host_name.find('.')));
  environment.executable = read_link("/proc/self/exe");
  environment.executable_is_shared = is_in_shared_directory(environment.executable);
  environment.workdir = typed_workdir();
  environment.is_root = ::geteuid() == 0;
  environment.stdin_is_terminal = ::isatty(STDIN_FILENO) == 1;
  environment.stdout_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  environment.stderr_is_terminal = ::isatty(STDERR_FILENO) == 1;
  return environment;
}

}  // namespace ddlrun
