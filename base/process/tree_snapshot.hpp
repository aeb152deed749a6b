// SPDX-License-Identifier: MIT
// How far a process and all below it have come, at one moment.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ddlrun {

// By the calls that the kernel counts: read, write and their like, not send and recv. From storage twice.
struct IoCount {
  std::uint64_t bytes = 0;
  std::uint64_t reads = 0;  // calls
  std::uint64_t writes = 0;

  std::uint64_t calls() const { return reads + writes; }
  bool operator==(const IoCount&) const = default;
};

struct TreeSnapshot {
  std::uint64_t cpu_ns = 0;      // of all threads
  std::uint64_t delayed_ns = 0;  // of all threads: runnable, but without a core
  IoCount io;                    // of all processes, with their threads that have ended
  std::map<int, IoCount> io_of;  // of each thread, by its number
  bool has_gpu = false;          // a GPU's device file is open
  char state = 'S';              // the most telling one: T, t, D, R, S
  int pid = -1;                  // whose that state is
  std::string name;              // without blanks, ';' and '='
  std::string waits_in;          // the kernel function that its main thread sleeps in, if the kernel shows it
  std::uint64_t main_ns = 0;     // CPU time of that thread

  bool operator==(const TreeSnapshot&) const = default;
};

}  // namespace ddlrun
