// SPDX-License-Identifier: MIT
// Which ranks can share memory: those with the same boot, mounts, IPC namespace and name of the host.
// Containers with one name are still several hosts, and so are hosts that were given the same name.
#pragma once

#include <string>
#include <vector>

namespace ddl {

struct HostId {
  std::string name;  // "h2"
  std::string mark;  // nothing to read, only to compare
  bool operator==(const HostId&) const = default;
};

HostId this_host_id();

// By rank, names for messages that differ where the marks do: "h2", or "h2 (1)" and "h2 (2)" where two hosts
// are called h2.
std::vector<std::string> name_hosts(const std::vector<HostId>& marks);

}  // namespace ddl
