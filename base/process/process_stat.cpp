// SPDX-License-Identifier: MIT
#include "base/process/process_stat.hpp"

#include "base/text/text.hpp"

namespace ddlrun {

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t open = text.find(" ("), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const auto fields = split(trim(text.substr(close + 1)), ' ');
  // Counted from the state on: 0 state, 1 parent, 11 utime, 12 stime, 13 cutime, 14 cstime, 19 starttime,
  // 21 rss.
  if (fields.size() < 20 || fields[0].size() != 1) return std::nullopt;
  constexpr std::uint64_t most = 1u << 30;  // fits a pid_t
  const auto pid = parse_unsigned(text.substr(0, open), most), parent = parse_unsigned(fields[1], most);
  const auto user = parse_unsigned(fields[11]), system = parse_unsigned(fields[12]);
  const auto started = parse_unsigned(fields[19]);
  if (!pid || !parent || !user || !system || !started) return std::nullopt;
  ProcessStat stat;
  stat.pid = *pid;
  stat.parent = *parent;
  stat.command = text.substr(open + 2, close - open - 2);
  stat.state = fields[0][0];
  stat.busy_ticks = *user + *system;
  stat.waited_ticks = parse_unsigned(fields[13]).value_or(0) + parse_unsigned(fields[14]).value_or(0);
  stat.started_ticks = *started;
  if (fields.size() > 21) stat.resident_pages = parse_unsigned(fields[21]).value_or(0);
  return stat;
}

}  // namespace ddlrun
