// SPDX-License-Identifier: MIT
#include "base/os/path_owner.hpp"
#include "base/os/plugin.hpp"
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

// The path by which ranks and other hosts start ddlrun. In a bundle that is PREFIX/bin/ddlrun, which starts
// PREFIX/libexec/ddlrun/ddlrun with the right C library (packaging/bundle_start.c).
std::string starting_path(const std::string& program) {
  constexpr std::string_view in_bundle = "/libexec/ddlrun/ddlrun";
  if (!program.ends_with(in_bundle)) return program;
  std::string start = program.substr(0, program.size() - in_bundle.size()) + "/bin/ddlrun";
  return ::access(start.c_str(), X_OK) == 0 ? start : program;
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
  environment.executable = starting_path(own_program_file());
  environment.executable_is_shared = is_in_shared_directory(environment.executable);
  environment.workdir = typed_workdir();
  environment.is_root = ::geteuid() == 0;
  environment.stdin_is_terminal = ::isatty(STDIN_FILENO) == 1;
  environment.stdout_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  environment.stderr_is_terminal = ::isatty(STDERR_FILENO) == 1;
  return environment;
}

}  // namespace ddlrun
