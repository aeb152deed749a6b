// SPDX-License-Identifier: MIT
// Which ranks a note names, and in which words.
#include "base/text/text.hpp"
#include "launch/monitor/rank_monitor.hpp"
#include "launch/monitor/stall_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ddlrun::launch {

namespace {

constexpr std::size_t most_going = 8;  // ranks that go on

int count(std::chrono::steady_clock::duration time) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

// Signature O8 of diagnose reads these words.
std::string quiet_others(std::size_t count) {
  return count == 1 ? "nor has the other rank" : fmt::format("nor have the other {}", count);
}

}  // namespace

// "rank 3 on h2", "ranks 0-3".
std::string RankMonitor::name_of(const std::vector<std::uint32_t>& ranks) const {
  return name_ranks(ranks, ranks_.at(ranks.front()).host);
}

// The ranks that compute while all others wait for them, as far as it shows; else empty. One that may spin in
// MPI, and one that sleeps of its own will beside waiters, show nothing.
std::vector<std::uint32_t> RankMonitor::computing_ranks() const {
  std::vector<std::uint32_t> computing;
  std::size_t waiting = 0, sleeping = 0;
  for (const auto& [number, rank] : ranks_) {
    if (rank.ended) continue;
    if (rank.work && !rank.work->waits_in.empty()) {
      computing.push_back(number);
    } else if (rank.stall && !is_stuck(*rank.stall)) {
      ++waiting;
      sleeping += sleeps_of_own_will(*rank.stall) ? 1 : 0;
    } else {
      return {};
    }
  }
  const bool is_clear = sleeping == 0 || sleeping == waiting;
  return is_clear && computing.size() <= waiting ? computing : std::vector<std::uint32_t>();
}

std::vector<std::uint32_t> RankMonitor::raised_among(const std::vector<std::uint32_t>& ranks) const {
  std::vector<std::uint32_t> raised;
  if (exception_of_)
    std::ranges::copy_if(ranks, std::back_inserter(raised),
                         [this](std::uint32_t rank) { return !exception_of_(rank).empty(); });
  return raised;
}

// With what is known of the rank that is the example.
IdleRanks RankMonitor::with_exception(IdleRanks named) const {
  named.lacks_py_spy = has_py_spy_ && !has_py_spy_();
  named.exception = exception_of_ ? exception_of_(named.rank) : "";
  if (!named.exception.empty()) named.remedy = exception_remedy_;
  return named;
}

IdleRanks RankMonitor::awaited_ranks(const std::vector<std::uint32_t>& ranks) const {
  const auto waiting = std::ranges::count_if(
      ranks_, [](const auto& entry) { return !entry.second.ended && entry.second.stall; });
  const Rank& first = ranks_.at(ranks.front());
  return with_exception(
      {name_of(ranks) + (ranks.size() == 1 ? " has" : " have"), ranks.front(), first.host, *first.work,
       ranks.size() == 1,
       fmt::format("while the other {}", waiting == 1 ? "one waits" : fmt::format("{} wait", waiting)),
       ranks.size() == 1 ? "for it, as it seems" : "for them, as it seems"});
}

// "while rank 1 on h2 goes on (process 813, python3)", "while 3 of 4 ranks go on".
std::string RankMonitor::others_of(std::size_t idle, std::size_t alive) const {
  std::vector<std::uint32_t> going;
  for (const auto& [number, rank] : ranks_)
    if (!rank.ended && !rank.stall) going.push_back(number);
  if (going.size() > idle || going.size() > most_going)
    return fmt::format("while {} of {} ranks go on", going.size(), alive);
  const auto& work = ranks_.at(going.front()).work;
  const std::string process =
      going.size() == 1 && work ? fmt::format(" (process {}, {})", work->pid, work->name) : "";
  return fmt::format("while {} {} on{}", name_of(going), going.size() == 1 ? "goes" : "go", process);
}

// Of `ranks`, those that are to be named stay.
IdleRanks RankMonitor::idle_ranks(std::vector<std::uint32_t>& ranks) const {
  const std::vector<std::uint32_t> all_ranks = ranks;
  std::map<std::uint32_t, Stall> idle;
  std::size_t alive = 0;
  for (const auto& [number, other] : ranks_) {
    if (other.ended) continue;
    ++alive;
    if (other.stall) idle[number] = *other.stall;
  }
  const bool all_quiet = is_all_quiet();
  auto awaited = all_quiet ? find_awaited(idle) : std::vector<std::uint32_t>();
  if (!awaited.empty()) ranks = awaited;
  // Where one printed an exception, the others wait for it, wherever they stand.
  if (const auto raised = raised_among(all_ranks); !raised.empty()) {
    ranks = {raised.front()};
    awaited = all_quiet && raised.size() < alive ? ranks : std::vector<std::uint32_t>();
  }
  const std::uint32_t first = ranks.front();
  const bool is_all = all_quiet && ranks.size() == alive;
  IdleRanks named{(is_all && alive > 1 ? fmt::format("all {} ranks", alive) : name_of(ranks)) +
                      (ranks.size() == 1 ? " has" : " have"),
                  first,
                  ranks_.at(first).host,
                  idle.at(first),
                  ranks.size() == 1,
                  "",
                  ""};
  if (alive == 1) named.others = "the only one left";
  if (all_quiet && !is_all) named.others = quiet_others(alive - ranks.size());
  if (!all_quiet) {
    named.others = others_of(idle.size(), alive);
    if (!sleeps_of_own_will(named.stall))
      named.waiters = ranks.size() == 1 ? "it may wait for another rank" : "they may wait for another rank";
  }
  if (!awaited.empty())
    named.waiters = fmt::format("the others seem to wait for {}", ranks.size() == 1 ? "it" : "them");
  const std::vector<std::uint32_t>& left = record_.left_early;
  if (all_quiet && !left.empty())
    named.waiters += fmt::format("{}{} {} ended with status 0", named.waiters.empty() ? "" : "; ",
                                 name_of(left), left.size() == 1 ? "has" : "have");
  return with_exception(std::move(named));
}

bool RankMonitor::is_all_quiet() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const auto& entry) { return entry.second.ended || entry.second.stall; });
}

RankMonitor::Time::duration RankMonitor::silence_of(const Host& host, Time now) const {
  return now - host.last_report.value_or(first_report_.value_or(now));
}

std::vector<std::uint32_t> RankMonitor::running_on(const Host& host) const {
  std::vector<std::uint32_t> running;
  std::ranges::copy_if(host.ranks, std::back_inserter(running),
                       [this](std::uint32_t rank) { return !ranks_.at(rank).ended; });
  return running;
}

Message RankMonitor::describe_silence(const std::string& name, const Host& host, Time now) const {
  const int quiet = count(silence_of(host, now));
  const std::string ranks = name_ranks(running_on(host));
  const std::string what =
      host.last_report
          ? fmt::format("host {} has been silent for {} s: no sign of life from {}", name, quiet, ranks)
          : fmt::format("host {} has sent nothing yet, {} s after the first of the others: {}", name, quiet,
                        ranks);
  return {what, name, fmt::format("ping -c 3 {0}; ssh {0} uptime", name)};
}

Standstill RankMonitor::stuck_now(const std::vector<std::uint32_t>& ranks, Time now) const {
  const Rank& first = ranks_.at(ranks.front());
  Stall stall = *first.stall;
  stall.seconds += count(now - first.since);
  Message message = describe_stuck(ranks.front(), first.host, stall, here(first.host));
  if (ranks.size() > 1)
    message.what += "; the same of " + name_ranks({ranks.begin() + 1, ranks.end()},
                                                  ranks.size() == 2 ? ranks_.at(ranks[1]).host : "");
  return {"warning", std::move(message), ranks};
}

std::optional<Standstill> RankMonitor::standstill(Time now) const {
  for (const auto& [name, host] : hosts_)
    if (host.is_reported) return Standstill{"warning", describe_silence(name, host, now), running_on(host)};
  const bool all_quiet = is_all_quiet();
  const auto computing = computing_ranks();
  std::vector<std::uint32_t> stuck, idle;
  for (const auto& [number, rank] : ranks_) {
    if (!rank.stall || !rank.is_reported) continue;
    if (is_stuck(*rank.stall))
      stuck.push_back(number);
    else if (all_quiet || !spins(*rank.stall))
      idle.push_back(number);
  }
  if (!stuck.empty()) return stuck_now(stuck, now);
  const bool awaits = !computing.empty() && ranks_.at(computing.front()).is_reported;
  if (!awaits && idle.empty()) return std::nullopt;
  IdleRanks named = awaits ? awaited_ranks(computing) : idle_ranks(idle);
  named.stall.seconds += count(now - ranks_.at(named.rank).since);
  const bool is_here = here(named.host);
  return Standstill{"note", awaits ? describe_computing(named, is_here) : describe_idle(named, is_here),
                    awaits ? computing : idle};
}

}  // namespace ddlrun::launch
