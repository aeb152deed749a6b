// SPDX-License-Identifier: MIT
#include "launch/monitor/rank_monitor.hpp"

#include "base/text/signal_name.hpp"
#include "base/text/text.hpp"
#include "launch/monitor/stall_text.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

using std::chrono::seconds;

constexpr seconds idle_delay{3};   // before an idle rank is reported: the others may follow
constexpr seconds late_report{2};  // of another host, behind the first one
// Before a rank that fails ends (posix_rank_supervisor.cpp), the launcher has no reason to kill another.
constexpr std::chrono::milliseconds before_kills{100};
constexpr seconds held_up{8};  // a tick this late: launch itself was stopped and read nothing
constexpr std::size_t max_reports_at_once = 8;  // each by itself; the rest together
constexpr std::size_t most_kept = 64;           // stalls in the record

int count(std::chrono::steady_clock::duration time) {
  return static_cast<int>(std::chrono::duration_cast<seconds>(time).count());
}

MonitorEvent plain(std::string text) { return {"", {std::move(text), "", ""}, false}; }

std::string name_ranks(const std::vector<std::uint32_t>& ranks) {
  std::vector<int> numbers(ranks.begin(), ranks.end());
  std::sort(numbers.begin(), numbers.end());
  return fmt::format("rank{} {}", numbers.size() == 1 ? "" : "s", printable(render_ranges(numbers), 80));
}

}  // namespace

RankMonitor::RankMonitor(const std::vector<PlannedRank>& planned, std::string token, Time start,
                         std::function<bool(const std::string&)> is_here, bool kills_programs)
    : token_(std::move(token)),
      is_here_(std::move(is_here)),
      last_tick_(start),
      kills_programs_(kills_programs) {
  for (const PlannedRank& rank : planned) {
    ranks_[rank.rank] = {rank.host, rank.local_rank < heartbeat_ranks, false, std::nullopt, start, false};
    hosts_[rank.host].ranks.push_back(rank.rank);
  }
}

std::string RankMonitor::take_line(std::string_view line, Time now) {
  ParsedStatusLine marked = find_status_line(line, token_);
  if (marked.report) take(*marked.report, now);
  return std::move(marked.rest);
}

void RankMonitor::take(const RankReport& report, Time now) {
  const auto found = ranks_.find(report.rank);
  if (found == ranks_.end()) return;
  Rank& rank = found->second;
  Host& host = hosts_[rank.host];
  host.last_report = now;
  if (!first_report_) first_report_ = now;
  if (host.is_reported) pending_.push_back(plain(fmt::format("host {} reports again", rank.host)));
  host.is_reported = false;
  if (report.sign == RankStatus::ended) {
    rank.ended = true;
    record_.ends.emplace(report.rank, report.exit_status);
    const bool may_be_mpirun = report.signal == SIGTERM || (report.signal == SIGKILL && !report.alone);
    auto& first = may_be_mpirun ? record_.first_ended : record_.first_failure;
    // With Open MPI 5.0.7 other ranks end by an error or SIGPIPE as soon as the connection to a killed rank
    // closes, and their reports may come before its own.
    const Time::duration window = kills_programs_ ? Time::duration(before_kills) : late_report;
    const bool caused_first = report.alone && first && (first->signal == 0 || first->signal == SIGPIPE) &&
                              now - first_failed_ < window;
    if (report.exit_status != 0 && (!first || caused_first)) {
      first = report;
      if (!may_be_mpirun) first_failed_ = now;
    }
  }
  if (report.sign == RankStatus::stalled) {
    if (!rank.stall || is_stuck(*rank.stall) != is_stuck(report.stall)) rank.is_reported = false;
    rank.stall = report.stall;
    urgent_ = urgent_ || is_stuck(report.stall);
    rank.since = now;
    if (record_.stalls.size() < most_kept) record_.stalls.push_back(report);
  }
  if (report.sign == RankStatus::resumed || report.sign == RankStatus::ended) {
    if (rank.is_reported && report.sign == RankStatus::resumed) {
      pending_.push_back(
          {"",
           {fmt::format("rank {} on {} goes on after {} s", report.rank, rank.host, report.stall.seconds), "",
            ""},
           false});
    }
    rank.stall.reset();
    rank.is_reported = false;
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
  tell_stalls(now, news);
  tell_hosts(now, news);
  return news;
}

// Where all are idle, most wait for the one that waits elsewhere.
MonitorEvent RankMonitor::idle_news(std::uint32_t rank) const {
  std::size_t alive = 0, quiet = 0;
  std::map<std::string, std::vector<std::uint32_t>> by_place;
  for (const auto& [number, other] : ranks_) {
    if (other.ended) continue;
    ++alive;
    if (!other.stall) continue;
    ++quiet;
    by_place[other.stall->waits_in].push_back(number);
  }
  if (quiet == alive && alive > 2 && by_place.size() == 2) {
    for (const auto& [place, ranks] : by_place)
      if (ranks.size() == 1) rank = ranks.front();
  }
  const Rank& one = ranks_.at(rank);
  const std::string others = alive == 1 ? std::string("the only one left")
                             : quiet == alive
                                 ? fmt::format("nor have the other {}", alive - 1)
                                 : fmt::format("while {} of {} ranks go on", alive - quiet, alive);
  return {"note", describe_idle(rank, one.host, *one.stall, others, here(one.host)), quiet == alive};
}

void RankMonitor::tell_stalls(Time now, std::vector<MonitorEvent>& news) {
  const bool all_quiet = std::all_of(ranks_.begin(), ranks_.end(), [](const auto& entry) {
    return entry.second.ended || entry.second.stall;
  });
  all_idle_told_ = all_idle_told_ && all_quiet;
  std::vector<std::uint32_t> more;
  std::size_t reported = 0;
  for (auto& [number, rank] : ranks_) {
    if (!rank.stall || rank.is_reported) continue;
    const bool stuck = is_stuck(*rank.stall);
    if (!stuck && now - rank.since < idle_delay) continue;
    if (spins(*rank.stall) && !all_quiet) continue;  // it waits for one that works
    rank.is_reported = true;
    if (!stuck && all_idle_told_) continue;  // once, where it is true of all
    if (!stuck) all_idle_told_ = all_quiet;
    if (++reported > max_reports_at_once) {
      more.push_back(number);
    } else if (stuck) {
      news.push_back({"warning", describe_stuck(number, rank.host, *rank.stall, here(rank.host)), true});
    } else {
      news.push_back(idle_news(number));
    }
  }
  if (!more.empty()) news.push_back(plain(fmt::format("the same of {}", name_ranks(more))));
}

// By the ranks that send its heartbeat, as long as they run.
bool RankMonitor::is_watched(const Host& host) const {
  return std::any_of(host.ranks.begin(), host.ranks.end(), [&](std::uint32_t number) {
    const Rank& rank = ranks_.at(number);
    return rank.signs && !rank.ended;
  });
}

void RankMonitor::tell_hosts(Time now, std::vector<MonitorEvent>& news) {
  if (!first_report_) return;  // nothing has started yet
  std::vector<std::string> more;
  std::size_t reported = 0;
  for (auto& [name, host] : hosts_) {
    const auto quiet = now - host.last_report.value_or(*first_report_);
    if (host.is_reported || quiet < silent_after || !is_watched(host)) continue;
    host.is_reported = true;
    if (record_.silent_hosts.size() < most_kept) record_.silent_hosts.push_back(name);
    if (++reported > max_reports_at_once) {
      more.push_back(name);
      continue;
    }
    const std::string what =
        host.last_report ? fmt::format("host {} has been silent for {} s: no sign of life from {}", name,
                                       count(quiet), name_ranks(host.ranks))
                         : fmt::format("host {} has sent nothing yet, {} s after the first of the others: {}",
                                       name, count(quiet), name_ranks(host.ranks));
    news.push_back({"warning", {what, name, fmt::format("ping -c 3 {0}; ssh {0} uptime", name)}, true});
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
    return status != 0 && status != 128 + SIGTERM && status != 128 + SIGKILL;
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

std::optional<RankReport> find_first_failure(const MonitorRecord& record, int status) {
  if (status == 0) return std::nullopt;
  const auto& ended = record.first_ended;
  return ended && ended->exit_status == status ? ended : record.first_failure;
}

std::optional<int> find_common_end(const MonitorRecord& record, std::size_t ranks) {
  if (record.ends.empty() || record.ends.size() != ranks) return std::nullopt;
  const int first = record.ends.begin()->second;
  const bool alike = std::all_of(record.ends.begin(), record.ends.end(),
                                 [&](const auto& end) { return end.second == first; });
  return alike && first > 0 && first < 128 ? std::optional(first) : std::nullopt;
}

bool all_ended_well(const MonitorRecord& record, std::size_t ranks) {
  return record.ends.size() == ranks &&
         std::all_of(record.ends.begin(), record.ends.end(), [](const auto& end) { return end.second == 0; });
}

std::string render_lost_hosts(const std::vector<std::string>& hosts) {
  constexpr std::size_t shown = 8;
  const std::vector<std::string> some(hosts.begin(),
                                      hosts.begin() + static_cast<long>(std::min(shown, hosts.size())));
  const std::string more = hosts.size() > shown ? fmt::format(" and {} more", hosts.size() - shown) : "";
  return fmt::format("{} {}{} was lost: the connection to it broke, or its daemon was killed",
                     hosts.size() == 1 ? "host" : "each of", join(some, ","), more);
}

std::string render_first_failure(const RankReport& report) {
  const std::string how = report.signal != 0 ? fmt::format("it was ended by {}, status {}",
                                                           describe_signal(report.signal), report.exit_status)
                                             : fmt::format("it exited with status {}", report.exit_status);
  const std::string why = report.start_error == 0 ? "" : ": " + describe_start_error(report.start_error);
  return fmt::format("rank {} on {} failed first: {}{}", report.rank, report.host, how, why);
}

}  // namespace ddlrun::launch
