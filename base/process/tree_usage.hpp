// SPDX-License-Identifier: MIT
// What a process and all below it have used until one moment, and what its host has moved.
#pragma once

#include <cstdint>

namespace ddlrun {

struct TreeUsage {
  std::uint64_t cpu_ms = 0;          // with processes that have ended
  std::uint64_t resident_bytes = 0;  // a page that two of them share counts twice
  std::uint64_t io_bytes = 0;        // by read, write and their like, not by send and recv
  bool stopped = false;              // one of them, by a signal or a debugger

  bool operator==(const TreeUsage&) const = default;
};

// By all interfaces to other hosts, since they exist.
struct HostTraffic {
  std::uint64_t received = 0, sent = 0;  // bytes

  bool operator==(const HostTraffic&) const = default;
};

}  // namespace ddlrun
