// SPDX-License-Identifier: MIT
// One process as /proc/PID/stat shows it, and the chain of its parents.
#pragma once

#include "doctor/gather.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

struct ProcessStat {
  std::uint64_t pid = 0, parent = 0;
  std::string command;              // comm: at most 15 bytes, may hold anything
  char state = '?';                 // R, S, D, Z, ...
  std::uint64_t busy_ticks = 0;     // user and system time, in hundredths of a second
  std::uint64_t started_ticks = 0;  // after boot, likewise
};

// "PID (comm) S PPID ..."; nothing where it is malformed.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

std::optional<ProcessStat> read_process_stat(const GatherContext& context, std::uint64_t pid);

// Our parent first, then its parent, up to process 1 or 64 steps.
std::vector<ProcessStat> read_ancestors(const GatherContext& context);

}  // namespace ddlrun::doctor
