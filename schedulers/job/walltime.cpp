// SPDX-License-Identifier: MIT
// Times as people write them, with no form that one scheduler reads otherwise than another.
#include "base/text/text.hpp"
#include "schedulers/job/job_spec.hpp"

#include <fmt/format.h>

#include <array>

namespace ddlrun::schedulers {

namespace {

constexpr std::uint64_t longest = 10ull * 366 * 86400;

std::optional<std::uint64_t> within_reason(std::uint64_t seconds) {
  if (seconds == 0 || seconds > longest) return std::nullopt;
  return seconds;
}

// "HH:MM:SS" with any hours up to `most_hours`; minutes and seconds have two digits below 60.
std::optional<std::uint64_t> parse_clock(std::string_view text, std::uint64_t most_hours) {
  const auto parts = split(text, ':');
  if (parts.size() != 3 || parts[1].size() != 2 || parts[2].size() != 2) return std::nullopt;
  const auto hours = parse_unsigned(parts[0], most_hours);
  const auto minutes = parse_unsigned(parts[1], 59);
  const auto seconds = parse_unsigned(parts[2], 59);
  if (!hours || !minutes || !seconds) return std::nullopt;
  return *hours * 3600 + *minutes * 60 + *seconds;
}

// "1h30m": units from large to small, each at most once; behind a larger one it stays below that.
std::optional<std::uint64_t> parse_units(std::string_view text) {
  struct Unit {
    char letter;
    std::uint64_t seconds, below;
  };
  constexpr std::array<Unit, 4> units{{{'d', 86400, 0}, {'h', 3600, 24}, {'m', 60, 60}, {'s', 1, 60}}};
  std::uint64_t total = 0;
  bool first = true;
  for (const Unit& unit : units) {
    const std::size_t end = text.find(unit.letter);
    if (end == std::string_view::npos) continue;
    const auto number = parse_unsigned(text.substr(0, end), longest);
    if (!number || (!first && *number >= unit.below)) return std::nullopt;
    total += *number * unit.seconds;
    text.remove_prefix(end + 1);
    first = false;
  }
  if (first || !text.empty()) return std::nullopt;
  return total;
}

}  // namespace

std::optional<std::uint64_t> parse_walltime(std::string_view text) {
  if (text.size() > 40) return std::nullopt;
  std::uint64_t days = 0;
  std::optional<std::uint64_t> seconds;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto number = parse_unsigned(text.substr(0, dash), longest / 86400);
    if (!number) return std::nullopt;
    days = *number;
    seconds = parse_clock(text.substr(dash + 1), 23);
  } else if (text.find(':') != std::string_view::npos) {
    seconds = parse_clock(text, longest / 3600);
  } else {
    seconds = parse_units(text);
  }
  if (!seconds) return std::nullopt;
  return within_reason(days * 86400 + *seconds);
}

std::string render_walltime(std::uint64_t seconds) {
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace ddlrun::schedulers
