// SPDX-License-Identifier: MIT
#include "launch/monitor/usage_state.hpp"

#include "base/text/text.hpp"
#include "launch/rank/rank_usage.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace ddlrun::launch {

namespace {

using std::chrono::seconds;

constexpr std::size_t most_line_bytes = 120;
constexpr seconds least_silence{20};  // as RankMonitor's
constexpr int silent_intervals = 3;

int count_seconds(RankStates::Time::duration time) {
  return static_cast<int>(std::chrono::duration_cast<seconds>(time).count());
}

bool is_stopped(const RankUsage& usage, const std::optional<Stall>& stall) {
  return usage.stopped || (stall && (stall->state == 'T' || stall->state == 't'));
}

}  // namespace

bool UsageState::is_named(std::uint32_t rank) const {
  return standstill && std::ranges::binary_search(standstill->ranks, rank);
}

bool UsageState::is_stale(std::int64_t age_s) const {
  return static_cast<double>(age_s) > std::max(10.0, 3 * interval_s);
}

RankStates::RankStates(const std::vector<PlannedRank>& planned, Time start) : start_(start) {
  std::map<std::string, std::uint32_t> hosts;
  for (const PlannedRank& rank : planned) {
    const auto [host, is_new] = hosts.try_emplace(rank.host, static_cast<std::uint32_t>(hosts.size()));
    if (is_new) state_.hosts.push_back({rank.host, std::nullopt});
    RankState& state = state_.ranks.emplace_back();
    state.rank = rank.rank;
    state.host = host->second;
    state.cores = rank.cores;
  }
  std::sort(state_.ranks.begin(), state_.ranks.end(),
            [](const RankState& a, const RankState& b) { return a.rank < b.rank; });
  seen_.resize(state_.ranks.size());
  state_.interval_s =
      std::chrono::duration<double>(usage_interval(static_cast<std::uint32_t>(planned.size()))).count();
}

std::optional<std::size_t> RankStates::find(std::uint32_t rank) const {
  const auto found =
      std::lower_bound(state_.ranks.begin(), state_.ranks.end(), rank,
                       [](const RankState& one, std::uint32_t number) { return one.rank < number; });
  if (found == state_.ranks.end() || found->rank != rank) return std::nullopt;
  return static_cast<std::size_t>(found - state_.ranks.begin());
}

void RankStates::take(const RankReport& report, Time now) {
  const auto at = find(report.rank);
  if (!at) return;
  RankState& rank = state_.ranks[*at];
  Seen& seen = seen_[*at];
  seen.last_report = now;
  if (report.usage) seen.usage = report.usage;
  if (report.usage && report.usage->host) state_.hosts[rank.host].traffic = report.usage->host;
  if (report.sign != RankStatus::heartbeat) seen.work.reset();
  if (report.sign == RankStatus::resumed || report.sign == RankStatus::ended) seen.stall.reset();
  if (report.sign == RankStatus::computes) seen.work = report.stall;
  if (report.sign == RankStatus::stalled) {
    seen.stall = report.stall;
    seen.stalled_at = now;
  }
  if (report.sign != RankStatus::ended) return;
  rank.phase = RankPhase::ended;
  rank.exit_status = report.exit_status;
}

// A progress bar ends its lines with CR.
void RankStates::take_output(std::uint32_t rank, std::string_view bytes) {
  const auto at = find(rank);
  if (!at) return;
  std::string& line = seen_[*at].line;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    const std::size_t room = most_line_bytes - std::min(line.size(), most_line_bytes);
    line.append(bytes.substr(0, std::min(end, room)));
    if (end == bytes.size()) return;
    bytes.remove_prefix(end + 1);
    if (!trim(line).empty()) state_.ranks[*at].last_line = line;
    line.clear();
  }
}

void RankStates::judge(RankState& rank, const Seen& seen, Time now) const {
  if (rank.phase == RankPhase::ended || !seen.last_report) return;
  const auto silence = now - *seen.last_report;
  const std::chrono::duration<double> patience = std::max<std::chrono::duration<double>>(
      least_silence, silent_intervals * std::chrono::duration<double>(state_.interval_s));
  rank.is_in.clear();
  if (silence > patience) {
    rank.phase = RankPhase::silent;
    rank.quiet_s = count_seconds(silence);
    return;
  }
  if (!seen.usage) return;
  const RankUsage& usage = *seen.usage;
  rank.cpu_percent = usage.cpu_percent;
  rank.resident_kib = usage.resident_kib;
  rank.io_kib_s = usage.io_kib_s;
  const bool stopped = is_stopped(usage, seen.stall);
  const bool quiet = seen.stall || usage.quiet_s > 0;
  rank.phase = stopped ? RankPhase::stopped : quiet ? RankPhase::waiting : RankPhase::running;
  rank.quiet_s = usage.quiet_s > 0 ? usage.quiet_s + count_seconds(silence) : 0;
  if (seen.work && state_.is_named(rank.rank)) rank.is_in = seen.work->waits_in;
  if (!seen.stall) return;
  rank.quiet_s = std::max(rank.quiet_s, seen.stall->seconds + count_seconds(now - seen.stalled_at));
  rank.is_in = seen.stall->waits_in;
}

const UsageState& RankStates::look(Time now, std::int64_t now_s) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<RankLoad> loads;
  bool any = false;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    RankState& rank = state_.ranks[i];
    judge(rank, seen_[i], now);
    const bool is_there =
        rank.cpu_percent >= 0 && rank.phase != RankPhase::ended && rank.phase != RankPhase::silent;
    any = any || is_there;
    loads.push_back(is_there
                        ? RankLoad{rank.cpu_percent / 100.0, static_cast<double>(rank.resident_kib) / 1024}
                        : RankLoad{unknown, unknown});
  }
  if (any) history_.add(std::chrono::duration<double>(now - start_).count(), loads);
  state_.timeline = history_.timeline();
  state_.written_s = now_s;
  return state_;
}

const UsageState& RankStates::finish(Time now, std::int64_t now_s) {
  look(now, now_s);
  for (HostState& host : state_.hosts) host.traffic.reset();
  state_.standstill.reset();
  state_.over = true;
  return state_;
}

}  // namespace ddlrun::launch
