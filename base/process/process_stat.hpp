// SPDX-License-Identifier: MIT
// One process, from its line in /proc/PID/stat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun {

struct ProcessStat {
  std::uint64_t pid = 0, parent = 0;
  std::string command;              // comm: at most 15 bytes, may hold anything
  char state = '?';                 // R S D T t Z X
  std::uint64_t busy_ticks = 0;     // user and system time, in hundredths of a second
  std::uint64_t waited_ticks = 0;   // of children that ended and were waited for, likewise
  std::uint64_t started_ticks = 0;  // after boot, likewise
  std::uint64_t resident_pages = 0;
};

// "PID (comm) S PPID ..."; nothing where it is malformed. The command may hold blanks and brackets.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

}  // namespace ddlrun
