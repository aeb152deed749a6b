// SPDX-License-Identifier: MIT
#include "launch/monitor/rank_monitor.hpp"

#include "base/text/text.hpp"
#include "launch/monitor/stall_text.hpp"
#include "launch/rank/oom_kills.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <utility>

namespace ddlrun::launch {

namespace {

using std::chrono::seconds;

// Before idle ranks are reported, from the last that came to stand: the others may follow. Ranks that stop in
// one moment come to stand within two samples of each other.
constexpr seconds least_idle_delay{3};
constexpr int most_idle_delays = 3;  // from the first that came to stand
constexpr seconds late_report{2};    // of another host, behind the first one
// Before a rank that fails ends (posix_rank_supervisor.cpp), the launcher has no reason to kill another.
constexpr std::chrono::milliseconds before_kills{100};
// Reports need not come in the order of the ends that they report, nor ends in that of the failures.
constexpr seconds same_moment{1};
constexpr seconds held_up{8};  // a tick this late: launch itself was stopped and read nothing
constexpr std::size_t max_reports_at_once = 8;  // each by itself; the rest together
constexpr std::size_t most_kept = 64;           // stalls in the record

MonitorEvent plain(std::string text) { return {"", {std::move(text), "", ""}, false}; }

}  // namespace

RankMonitor::RankMonitor(const std::vector<PlannedRank>& planned, std::string token, Time start,
                         std::function<bool(const std::string&)> is_here, bool kills_programs,
                         int stall_after)
    : token_(std::move(token)),
      is_here_(std::move(is_here)),
      last_tick_(start),
      idle_delay_(std::max<Time::duration>(least_idle_delay, 2 * sample_interval(stall_after))),
      stall_after_(seconds(stall_after)),
      kills_programs_(kills_programs) {
  for (const PlannedRank& rank : planned) {
    ranks_[rank.rank] = {rank.host, rank.local_rank < heartbeat_ranks, false, {}, {}, start, false};
    hosts_[rank.host].ranks.push_back(rank.rank);
  }
}

std::string RankMonitor::take_line(std::string_view line, Time now) {
  ParsedStatusLine marked = find_status_line(line, token_);
  if (marked.report) take(*marked.report, now);
  return std::exchange(note_, {}) + marked.rest;
}

// A process of one rank can write the line of another: the host is the planned one, never that of the line.
void RankMonitor::take(RankReport report, Time now) {
  const auto found = ranks_.find(report.rank);
  if (found == ranks_.end()) return;
  report.host = found->second.host;
  if (sink_) sink_(report, now);
  Rank& rank = found->second;
  Host& host = hosts_[rank.host];
  host.last_report = now;
  if (!first_report_) first_report_ = now;
  if (host.is_reported) pending_.push_back(plain(fmt::format("host {} reports again", rank.host)));
  host.is_reported = false;
  if (report.sign == RankStatus::ended) {
    rank.ended = true;
    take_end(report, now);
  }
  if (report.sign == RankStatus::stalled) {
    if (!rank.stall || is_stuck(*rank.stall) != is_stuck(report.stall)) rank.is_reported = false;
    rank.stall = report.stall;
    rank.work.reset();
    urgent_ = urgent_ || is_stuck(report.stall);
    rank.since = now;
    if (record_.stalls.size() < most_kept) record_.stalls.push_back(report);
  }
  if (report.sign == RankStatus::resumed || report.sign == RankStatus::ended) {
    const bool stood = rank.is_reported && rank.stall;
    if (rank.stall && is_stuck(*rank.stall)) released_ = now;
    if (stood && report.sign == RankStatus::resumed) resumed_[report.rank] = report.stall.seconds;
    if (report.sign == RankStatus::resumed && record_.raised == report.rank) record_.raised.reset();
    rank.stall.reset();
    rank.work.reset();
    rank.is_reported = false;
  }
  if (report.sign == RankStatus::computes) {
    rank.work = report.stall;
    rank.since = now;
    rank.is_reported = false;
  }
}

void RankMonitor::take_end(const RankReport& report, Time now) {
  record_.ends.emplace(report.rank, report.exit_status);
  const bool may_be_mpirun = report.signal == SIGTERM || (report.signal == SIGKILL && !report.alone);
  auto& first = may_be_mpirun ? record_.first_ended : record_.first_failure;
  // With Open MPI 5.0.7 other ranks end by an error or SIGPIPE as soon as the connection to a killed rank
  // closes, and their reports may come before its own.
  const Time::duration window = kills_programs_ ? Time::duration(before_kills) : late_report;
  const bool caused_first = report.alone && first && !first->oom_file &&
                            (first->signal == 0 || first->signal == SIGPIPE) && now - first_failed_ < window;
  if (expects_saves_ && report.exit_status == saved_status) return;
  if (report.exit_status == 0) {
    if (!record_.first_failure && !record_.first_ended) record_.left_early.push_back(report.rank);
    return;
  }
  if (!first || caused_first) {
    first = report;
    if (may_be_mpirun) return;
    first_failed_ = now;
    record_.failed_with.clear();
    // The launcher may kill the others, and their cgroup may have the same count.
    if (report.oom_file) note_ = render_oom_kill(report.rank, report.host, *report.oom_file);
  } else if (!may_be_mpirun && now - first_failed_ <= same_moment) {
    record_.failed_with.push_back({report.rank, report.host, report.exit_status});
  }
}

std::vector<MonitorEvent> RankMonitor::tick(Time now) {
  std::vector<MonitorEvent> news;
  news.swap(pending_);
  urgent_ = false;
  if (now - last_tick_ > held_up) {
    for (auto& [name, host] : hosts_) {
      if (host.last_report) host.last_report = now;
    }
    if (first_report_) first_report_ = now;
  }
  last_tick_ = now;
  report_resumed(news);
  report_stuck(news);
  report_idle(now, news);
  for (const MonitorEvent& event : news) {
    if (!event.stalled) continue;
    record_.stall = event.message.what;
    record_.stall_severity = event.severity;
  }
  report_hosts(now, news);
  return news;
}

void RankMonitor::report_resumed(std::vector<MonitorEvent>& news) {
  if (resumed_.empty()) return;
  std::vector<std::uint32_t> ranks;
  int longest = 0;
  for (const auto& [rank, time] : resumed_) {
    ranks.push_back(rank);
    longest = std::max(longest, time);
  }
  resumed_.clear();
  news.push_back(
      plain(fmt::format("{} {} on after {} s", name_of(ranks), ranks.size() == 1 ? "goes" : "go", longest)));
  news.back().resumed = true;
}

void RankMonitor::report_stuck(std::vector<MonitorEvent>& news) {
  std::vector<std::uint32_t> more;
  std::size_t reported = 0;
  for (auto& [number, rank] : ranks_) {
    if (!rank.stall || rank.is_reported || !is_stuck(*rank.stall)) continue;
    rank.is_reported = true;
    if (++reported > max_reports_at_once)
      more.push_back(number);
    else
      news.push_back({"warning", describe_stuck(number, rank.host, *rank.stall, here(rank.host)), true});
  }
  if (!more.empty()) news.push_back(plain(fmt::format("the same of {}", name_ranks(more))));
}

// One note for all idle ranks, as soon as the picture is stable. The others wait for a rank that is stuck.
void RankMonitor::report_idle(Time now, std::vector<MonitorEvent>& news) {
  const bool all_quiet = is_all_quiet();
  all_idle_reported_ = all_idle_reported_ && all_quiet;
  const auto computing = computing_ranks();
  std::vector<std::uint32_t> idle = computing;
  bool has_news = !computing.empty() && !ranks_.at(computing.front()).is_reported;
  Time first = now, last{};
  for (const std::uint32_t number : computing) {
    first = std::min(first, ranks_.at(number).since);
    last = std::max(last, ranks_.at(number).since);
  }
  for (const auto& [number, rank] : ranks_) {
    if (!rank.stall) continue;
    if (is_stuck(*rank.stall)) return;
    if (spins(*rank.stall) && !all_quiet && computing.empty()) continue;  // it waits for one that works
    idle.push_back(number);
    last = std::max(last, rank.since);
    if (rank.is_reported) continue;
    has_news = true;
    first = std::min(first, rank.since);
  }
  // The others waited for a rank that was stopped: they need time to go on.
  if (!all_quiet && released_ && now - *released_ < stall_after_) return;
  if (!has_news || (now - last < idle_delay_ && now - first < most_idle_delays * idle_delay_)) return;
  for (const std::uint32_t number : idle) ranks_.at(number).is_reported = true;
  if (!computing.empty()) return report_computing(computing, news);
  if (all_idle_reported_) return;  // once, where it is true of all
  all_idle_reported_ = all_quiet;
  const IdleRanks named = idle_ranks(idle);
  if (!named.exception.empty()) record_.raised = named.rank;
  news.push_back({"note", describe_idle(named, here(named.host)), all_quiet});
}

void RankMonitor::report_computing(const std::vector<std::uint32_t>& ranks, std::vector<MonitorEvent>& news) {
  const IdleRanks named = awaited_ranks(ranks);
  if (!named.exception.empty()) record_.raised = named.rank;
  news.push_back({"note", describe_computing(named, here(named.host)), false});
  for (const std::uint32_t number : ranks)
    if (record_.stalls.size() < most_kept)
      record_.stalls.push_back(
          {number, ranks_.at(number).host, RankStatus::computes, *ranks_.at(number).work});
}

// By the ranks that send its heartbeat, as long as they run.
bool RankMonitor::is_watched(const Host& host) const {
  return std::any_of(host.ranks.begin(), host.ranks.end(), [&](std::uint32_t number) {
    const Rank& rank = ranks_.at(number);
    return rank.signs && !rank.ended;
  });
}

void RankMonitor::report_hosts(Time now, std::vector<MonitorEvent>& news) {
  if (!first_report_) return;  // nothing has started yet
  std::vector<std::string> more;
  std::size_t reported = 0;
  for (auto& [name, host] : hosts_) {
    if (host.is_reported || silence_of(host, now) < silent_after || !is_watched(host)) continue;
    host.is_reported = true;
    if (record_.silent_hosts.size() < most_kept) record_.silent_hosts.push_back(name);
    if (++reported > max_reports_at_once) {
      more.push_back(name);
      continue;
    }
    news.push_back({"warning", describe_silence(name, host, now), true});
  }
  if (!more.empty()) {
    news.push_back(
        plain(fmt::format("the same of {} more hosts: {}", more.size(), printable(join(more, ","), 400))));
  }
}

// A rank of the host reported an end of its own, not one by mpirun.
bool RankMonitor::failed_by_itself(const std::string& name) const {
  const auto host = hosts_.find(name);
  if (host == hosts_.end()) return false;
  return std::any_of(host->second.ranks.begin(), host->second.ranks.end(), [&](std::uint32_t rank) {
    const auto end = record_.ends.find(rank);
    const int status = end == record_.ends.end() ? 0 : end->second;
    return status != 0 && !is_ended_by_launcher(status);
  });
}

void RankMonitor::finish(bool failed, const DaemonLoss& loss) {
  const std::string& named = loss.host;
  // A host that could still report how its rank failed was not lost: mpirun loses its daemon while it ends
  // the job.
  if (failed_by_itself(named)) return;
  // A program that could not start ends the job before ranks elsewhere can report: their hosts are not lost.
  if (record_.first_failure && record_.first_failure->start_error != 0) return;
  if (!named.empty()) record_.lost_hosts = {named};
  if (!failed || !named.empty() || record_.ends.empty()) return;
  for (const auto& [name, host] : hosts_) {
    const bool silent = std::none_of(host.ranks.begin(), host.ranks.end(),
                                     [&](std::uint32_t rank) { return ranks_.at(rank).ended; });
    // A supervisor that is killed with its rank reports no end: its host is lost only if no one else is
    // there.
    const bool alive = here(name) || name == loss.reporter;
    if (silent && !alive && host.last_report && record_.lost_hosts.size() < most_kept)
      record_.lost_hosts.push_back(name);
  }
}

}  // namespace ddlrun::launch
