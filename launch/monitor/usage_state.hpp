// SPDX-License-Identifier: MIT
// How each rank of a run stands at one moment, usage.json ("ddlrun.usage/1"): `launch` writes it again and
// again, `ddlrun top` and `report` read it. Pure.
#pragma once

#include "launch/monitor/stall_text.hpp"
#include "launch/monitor/usage_timeline.hpp"
#include "launch/rank/planned_rank.hpp"
#include "launch/rank/status_line.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::launch {

constexpr std::string_view usage_file = "/usage.json";
constexpr std::uint64_t max_usage_bytes = 256u << 20;

// waiting: it hardly uses a core, or spins in a library that waits for others. silent: no report for long.
enum class RankPhase { starting, running, waiting, stopped, silent, ended };

struct RankState {
  std::uint32_t rank = 0;
  std::uint32_t host = 0;  // in UsageState::hosts
  int cores = 0;           // planned; 0: none of its own
  RankPhase phase = RankPhase::starting;
  int cpu_percent = -1;  // of one core; -1: unknown
  std::uint64_t resident_kib = 0, io_kib_s = 0;
  int quiet_s = 0;      // waiting, stopped, silent: for so long
  int exit_status = 0;  // ended
  // A library or a function of the kernel, if the stall detector has found it. Of one that computes while the
  // others wait, the file of its code.
  std::string is_in;
  std::string last_line;  // of its output, where launch reads that

  bool operator==(const RankState&) const = default;
};

struct HostState {
  std::string name;
  std::optional<TrafficRate> traffic;

  bool operator==(const HostState&) const = default;
};

struct UsageState {
  std::int64_t written_s = 0;  // since 1970
  double interval_s = 2;       // between two reports of a rank
  bool over = false;           // the last one of the run
  std::vector<HostState> hosts;
  std::vector<RankState> ranks;                         // ascending
  std::optional<Standstill> standstill = std::nullopt;  // none where the run gets on, or is over
  UsageTimeline timeline;

  // Of a rank that the standstill names.
  bool is_named(std::uint32_t rank) const;
  // Several reports of the ranks are missing in one that was written `age_s` ago.
  bool is_stale(std::int64_t age_s) const;
  bool operator==(const UsageState&) const = default;
};

std::string render_usage_json(const UsageState& state);
// Error{request} that names `where` for what is no such document.
UsageState parse_usage_json(std::string_view text, const std::string& where);

// Collects the reports of a run while they pass by.
class RankStates {
 public:
  using Time = std::chrono::steady_clock::time_point;
  RankStates(const std::vector<PlannedRank>& planned, Time start);
  void take(const RankReport& report, Time now);
  void take_output(std::uint32_t rank, std::string_view bytes);
  void take_standstill(std::optional<Standstill> standstill) { state_.standstill = std::move(standstill); }
  // The state now, which also is the next point of the timeline.
  const UsageState& look(Time now, std::int64_t now_s);
  // After the end of the run. The end of a rank that has not reported it stays unknown.
  const UsageState& finish(Time now, std::int64_t now_s);

 private:
  struct Seen {
    std::optional<Time> last_report;
    std::optional<RankUsage> usage;
    std::optional<Stall> stall, work;
    Time stalled_at;
    std::string line;  // of its output, without an end yet
  };

  // Where it is in state_.ranks and seen_; nothing where it is not planned.
  std::optional<std::size_t> find(std::uint32_t rank) const;
  void judge(RankState& rank, const Seen& seen, Time now) const;

  Time start_;
  UsageState state_;
  std::vector<Seen> seen_;  // as state_.ranks
  UsageHistory history_;
};

}  // namespace ddlrun::launch
