// SPDX-License-Identifier: MIT
// How far a process and all below it have come, at one moment.
#pragma once

#include <cstdint>
#include <string>

namespace ddlrun {

struct TreeSnapshot {
  std::uint64_t cpu_ns = 0;      // of all threads
  std::uint64_t delayed_ns = 0;  // of all threads: runnable, but without a core
  std::uint64_t io_bytes = 0;    // read and written, by the calls that the kernel counts; from storage twice
  std::uint64_t io_calls = 0;    // of those calls
  bool has_gpu = false;          // a GPU's device file is open
  char state = 'S';              // the most telling one: T, t, D, R, S
  int pid = -1;                  // whose that state is
  std::string name;              // without blanks, ';' and '='
  std::string waits_in;          // the kernel function that its main thread sleeps in, if the kernel shows it
  std::uint64_t main_ns = 0;     // CPU time of that thread

  bool operator==(const TreeSnapshot&) const = default;
};

}  // namespace ddlrun
