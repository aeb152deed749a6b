// SPDX-License-Identifier: MIT
#include "doctor/diagnose/output_gap.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/line_prefix.hpp"
#include "doctor/diagnose/time_stamp.hpp"
#include "doctor/diagnose/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t most_stamped_lines = 20;
constexpr std::size_t least_stamped_lines = 3;
constexpr std::size_t most_bytes_read = 64 << 10;
constexpr std::size_t most_label = 60;    // bytes before a time stamp
constexpr std::int64_t least_gap = 900;   // seconds
constexpr std::int64_t least_times = 10;  // the longest time between two lines
constexpr std::int64_t zone_step = 1800;  // time zones differ by multiples of it
constexpr std::int64_t clock_slack = 10;
constexpr std::int64_t largest_zone = 14 * 3600;

// Containers print UTC and Slurm the local time: such a difference is no wait.
bool may_be_time_zone(std::int64_t gap, std::int64_t longest) {
  const std::int64_t rest = gap % zone_step;
  return gap <= largest_zone + zone_step &&
         (rest <= longest + clock_slack || rest >= zone_step - clock_slack);
}

}  // namespace

bool is_of_scheduler(std::string_view text) {
  // With the lines of Torque's mail about a job that it ended.
  return starts_with_any(
      text, {"srun: ", "slurmstepd", "=>> PBS", "PBS Job Id:", "Aborted by PBS", "Execution terminated",
             "See Administrator", "See job standard error", "Exit_status=", "resources_used."});
}

std::optional<std::int64_t> seconds_in(std::string_view line) {
  constexpr std::int64_t per_second = 1'000'000;
  for (std::size_t at = line.find("20"); at < std::min(most_label, line.size());
       at = line.find("20", at + 1)) {
    const std::string_view rest = line.substr(at);
    if (rest.size() < 10 || (rest[4] != '-' && rest[4] != '/')) continue;
    const auto found = read_stamp(rest);
    if (found && found->stamp.kind == Stamp::Kind::dated) return found->stamp.microseconds / per_second;
  }
  return std::nullopt;
}

std::optional<std::int64_t> output_gap(std::string_view before, std::int64_t limit) {
  if (before.size() > most_bytes_read) before.remove_prefix(before.size() - most_bytes_read);
  std::vector<std::int64_t> times;  // the latest first
  while (!before.empty() && times.size() < most_stamped_lines) {
    if (before.ends_with('\n')) before.remove_suffix(1);
    const std::size_t newline = before.rfind('\n');
    const std::size_t begin = newline == npos ? 0 : newline + 1;
    const std::string line = strip_escapes(before.substr(begin, 1 << 10));
    before = before.substr(0, begin);
    if (trim(line).empty() || is_of_scheduler(line)) continue;
    const auto time = seconds_in(line);
    if (time) times.push_back(*time);
    if (times.empty()) return std::nullopt;
  }
  if (times.size() < least_stamped_lines) return std::nullopt;
  std::int64_t longest = 1;
  for (std::size_t i = 1; i < times.size(); ++i) longest = std::max(longest, times[i - 1] - times[i]);
  const std::int64_t gap = limit - times.front();
  if (gap < least_gap || gap < least_times * longest || may_be_time_zone(gap, longest)) return std::nullopt;
  return gap;
}

std::string render_hours(std::int64_t seconds) {
  const std::int64_t minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace ddlrun::diagnose
