// SPDX-License-Identifier: MIT
// How far a process and all below it have come, at one moment.
#pragma once

#include <cstdint>
#include <string>

namespace ddlrun {

struct TreeSnapshot {
  std::uint64_t cpu_ns = 0;    // of all threads
  std::uint64_t io_bytes = 0;  // read and written, by the calls that the kernel counts
  char state = 'S';            // the most telling one: T, t, D, R, S
  int pid = -1;                // whose that state is
  std::string name;            // without blanks, ';' and '='
  std::string waits_in;        // the kernel function it sleeps in, if the kernel shows it

  bool operator==(const TreeSnapshot&) const = default;
};

}  // namespace ddlrun
