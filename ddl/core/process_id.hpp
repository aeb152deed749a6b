// SPDX-License-Identifier: MIT
// Whether another process of this machine still runs: by its number and the time at which it started, so that
// a number that was given out again is not taken for it.
#pragma once

#include <cstdint>
#include <string>

namespace ddl {

struct ProcessId {
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // 0: unknown
};

ProcessId this_process_id();
// True also where it cannot be known: another pid namespace, no /proc. `seen`: it was seen running before.
bool is_running(const ProcessId& mark, bool seen);

// "process 4711 is stopped", "... runs", "... sleeps", "... waits for a disk".
std::string describe_process(const ProcessId& mark);

}  // namespace ddl
