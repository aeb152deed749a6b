// SPDX-License-Identifier: MIT
// How many processes the kernel's OOM killer ended in the memory cgroup of this process.
#pragma once

#include "base/os/system.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::launch {

// The file with that count, by /proc/self/cgroup: of version 2, or of the memory controller of version 1; ""
// if the text names neither.
std::string find_oom_file(std::string_view cgroups);

// The number behind "oom_kill" in memory.events and in memory.oom_control.
std::optional<std::uint64_t> parse_oom_kills(std::string_view text);

struct OomKills {
  std::string file;
  std::uint64_t count = 0;
};
// Nothing where the kernel does not count them, or the file cannot be read.
std::optional<OomKills> read_oom_kills(System& system);

// The file of the count if it went up since `before` and SIGKILL ended the program, which a shell reports as
// 137. Not where a signal was passed on to it.
std::optional<std::string> find_oom_kill(System& system, const std::optional<OomKills>& before,
                                         const ProcessResult& end);

// A line for stderr, which `ddlrun diagnose` knows. `file`: "" if it is not known.
std::string render_oom_kill(std::uint32_t rank, const std::string& host, const std::string& file);

}  // namespace ddlrun::launch
