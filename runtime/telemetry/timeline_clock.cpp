// SPDX-License-Identifier: MIT
#include "runtime/telemetry/timeline_clock.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace ddlrun::runtime {
namespace {

constexpr int clock_rounds = 16;

std::int64_t trace_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(TraceClock::now().time_since_epoch()).count();
}

std::string render_rounds(std::span<const ClockRound> rounds) {
  std::string text;
  for (const ClockRound& round : rounds)
    text += std::to_string(round.entered_ns) + " " + std::to_string(round.left_ns) + " ";
  return text;
}

std::vector<ClockRound> parse_rounds(const std::string& text) {
  std::istringstream words(text);
  std::vector<ClockRound> rounds;
  for (ClockRound round; words >> round.entered_ns >> round.left_ns;) rounds.push_back(round);
  return rounds;
}

}  // namespace

ClockReading fit_clock(std::span<const ClockRound> first, std::span<const ClockRound> mine) {
  std::int64_t least = INT64_MIN;
  std::int64_t most = INT64_MAX;
  const std::size_t count = std::min(first.size(), mine.size());
  for (std::size_t i = 0; i < count; ++i) {
    least = std::max(least, first[i].entered_ns - mine[i].left_ns);
    most = std::min(most, first[i].left_ns - mine[i].entered_ns);
  }
  if (count == 0) return {};
  const std::int64_t at = mine[count - 1].left_ns;
  // Ranks of one host read one clock.
  if (least <= 0 && most >= 0 && most - least < 1'000'000'000) return {at, 0, std::max(-least, most)};
  return {at, least + (most - least) / 2, std::abs(most - least) / 2};
}

ClockReading read_clock(Communicator& ranks) {
  std::vector<ClockRound> rounds;
  for (int i = 0; i < clock_rounds; ++i) {
    ClockRound round;
    round.entered_ns = trace_now();
    ranks.gather_all("");
    round.left_ns = trace_now();
    rounds.push_back(round);
  }
  return fit_clock(parse_rounds(ranks.gather_all(render_rounds(rounds)).at(0)), rounds);
}

std::int64_t align_time(std::span<const ClockReading> readings, std::int64_t time_ns) {
  if (readings.empty()) return time_ns;
  const ClockReading& first = readings.front();
  const ClockReading& last = readings.back();
  if (last.at_ns <= first.at_ns) return time_ns + first.offset_ns;
  const double part =
      static_cast<double>(time_ns - first.at_ns) / static_cast<double>(last.at_ns - first.at_ns);
  const double offset = static_cast<double>(last.offset_ns - first.offset_ns) * part;
  return time_ns + first.offset_ns + static_cast<std::int64_t>(offset);
}

}  // namespace ddlrun::runtime
