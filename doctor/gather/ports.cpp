// SPDX-License-Identifier: MIT
// Whether the ports that the job requests can be listened on here.
//   port.N         "free", or the system's words: "Address already in use"
//   port.N.owner   who listens there, as far as we may see: "python3, pid 4711"
#include "base/os/network.hpp"
#include "base/text/text.hpp"
#include "doctor/gather/name.hpp"
#include "doctor/gather/sysroot_files.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

// The inode of the socket that listens on the port: column 10 of a line whose state is 0A.
std::string find_listener(const SysrootFiles& files, std::uint16_t port) {
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto text = files.read(table, 8u << 20);
    if (!text) continue;
    for (const std::string_view line : split(*text, '\n')) {
      std::vector<std::string_view> words;
      for (const std::string_view word : split(line, ' ')) {
        if (!word.empty()) words.push_back(word);
      }
      if (words.size() > 9 && words[3] == "0A" && words[1].ends_with(fmt::format(":{:04X}", port)))
        return std::string(words[9]);
    }
  }
  return {};
}

// Only processes of our own user show their sockets, unless we are root.
std::string find_owner(const SysrootFiles& files, const std::string& inode) {
  const std::string wanted = "socket:[" + inode + "]";
  for (const std::string& process : files.list("/proc")) {
    if (!parse_unsigned(process)) continue;
    const std::string dir = "/proc/" + process;
    const auto names = files.list(dir + "/fd");
    const bool owns = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return files.link(dir + "/fd/" + name) == wanted;
    });
    if (owns)
      return fmt::format("{}, pid {}", printable(files.line(dir + "/comm").value_or("?"), 40), process);
  }
  return {};
}

}  // namespace

void gather_ports(const GatherContext& context, Facts& facts) {
  NetworkAccess* network = context.kernel.network();
  const SysrootFiles files(context);
  for (const std::uint16_t port : context.request.ports) {
    const std::string name = fmt::format("port.{}", port);
    if (network == nullptr) {
      facts.set_unknown(name, "no way to try it");
      continue;
    }
    const std::string problem = network->try_listen(port);
    facts.set(name, problem.empty() ? "free" : printable(problem));
    if (problem.empty()) continue;
    const std::string inode = find_listener(files, port);
    const std::string owner = inode.empty() ? "" : find_owner(files, inode);
    if (!owner.empty()) facts.set(name + ".owner", owner);
  }
}

}  // namespace ddlrun::doctor
