// SPDX-License-Identifier: MIT
// The lines on stderr by which the supervisor of a rank reports its state.
#pragma once

#include "launch/rank/rank_usage.hpp"
#include "launch/rank/stall_detector.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::launch {

enum class RankStatus { heartbeat, stalled, resumed, ended, computes };

struct RankReport {
  std::uint32_t rank = 0;
  std::string host;  // gethostname(); of RankMonitor as planned
  RankStatus sign = RankStatus::heartbeat;
  Stall stall;          // stalled, computes; of `resumed` only how long it lasted
  int exit_status = 0;  // ended: as a shell would report it
  int signal = 0;       // ended: by which, or 0
  int start_error = 0;  // ended: the errno if its program could not be started
  bool alone = false;   // ended by SIGKILL, and its supervisor lives: no launcher did that
  std::optional<RankUsage> usage = std::nullopt;  // heartbeat: of one that was given to report it
  // Ended by SIGKILL, and the kernel counted OOM kills in its cgroup since the start: the file of the count,
  // or
  // "" if a line cannot hold its name. Other ranks may share the cgroup.
  std::optional<std::string> oom_file = std::nullopt;

  bool operator==(const RankReport&) const = default;
};

// "ddlrun-rank token=T rank=3 host=h2 ended status=137 signal=9 alone=1 oom=FILE;\n", one write.
std::string render_status_line(std::string_view token, const RankReport& report);

// What gethostname() may return: a host name, or the number that the name of a container can be.
bool is_reported_host(std::string_view host);

// "the program or its interpreter does not exist there", of a `start_error`.
std::string describe_start_error(int code);

// What to type where a process was killed and no message has the cause.
constexpr std::string_view find_killer = "dmesg -T | grep -i 'killed process'   # out of memory?";

struct ParsedStatusLine {
  std::optional<RankReport> report;
  std::string rest;  // what belongs to somebody else, byte for byte
};
ParsedStatusLine find_status_line(std::string_view line, std::string_view token);

}  // namespace ddlrun::launch
