// SPDX-License-Identifier: MIT
// What the head makes of the signs of its ranks: which stalls, which host is silent, which failed first.
// Pure: lines and the time go in, messages come out.
#pragma once

#include "base/text/error.hpp"
#include "launch/monitor/daemon_loss.hpp"
#include "launch/monitor/monitor_record.hpp"
#include "launch/monitor/placement_check.hpp"
#include "launch/monitor/stall_text.hpp"
#include "launch/rank/status_line.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

constexpr std::chrono::seconds heartbeat_interval{5};  // a host's signs of life
constexpr std::uint32_t heartbeat_ranks = 2;           // its first ranks give them
constexpr std::chrono::seconds silent_after{20};       // a host without any is silent; reported within 30 s

struct MonitorEvent {
  std::string severity;  // warning or note; "" for a plain line, then only `message.what` counts
  Message message;
  bool stalled = false;  // a rank is stopped, or a host silent: what --on-stall end ends a job for
  bool resumed = false;  // ranks go on
};

class RankMonitor {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // `is_here`: whether a host is this machine; without it none is. `kills_programs`: the launcher ends the
  // other ranks by SIGKILL of their programs, not of their supervisors, as Intel MPI's hydra does.
  // `stall_after`: --stall-timeout of the ranks.
  RankMonitor(const std::vector<PlannedRank>& planned, std::string token, Time start,
              std::function<bool(const std::string& host)> is_here = {}, bool kills_programs = false,
              int stall_after = 0);

  // Passes each report of a planned rank to `sink`, too.
  void share_reports(std::function<void(const RankReport&, Time)> sink) { sink_ = std::move(sink); }
  // What a rank printed last, if that is an exception, else ""; what makes such a program end, or "".
  // `has_py_spy`: this host has the program that shows where Python waits; called for a note.
  void explain_by(std::function<std::string(std::uint32_t rank)> exception_of, std::string remedy,
                  std::function<bool()> has_py_spy) {
    exception_of_ = std::move(exception_of);
    exception_remedy_ = std::move(remedy);
    has_py_spy_ = std::move(has_py_spy);
  }
  // What of the line belongs to the user; with a note where the OOM killer ended the rank that failed first.
  std::string take_line(std::string_view line, Time now);
  // A signal has gone to the ranks: from now on `saved_status` is no failure of a rank.
  void expect_saves() { expects_saves_ = true; }
  // A report came that should be printed at once.
  bool urgent() const { return urgent_; }
  // Then, and about once a second: the events to print.
  std::vector<MonitorEvent> tick(Time now);
  // What was reported and has not ended, in words of now: the same for who asks later.
  std::optional<Standstill> standstill(Time now) const;
  bool has_report() const { return first_report_.has_value(); }
  // After the end; `failed` if it was not a good one, `loss` what the launcher itself reported of hosts.
  void finish(bool failed, const DaemonLoss& loss);
  const MonitorRecord& record() const { return record_; }

 private:
  struct Rank {
    std::string host;  // as planned
    bool signs = false;
    bool ended = false;
    std::optional<Stall> stall;
    std::optional<Stall> work;  // it computes, and has moved no byte for long
    Time since;                 // when one of them was reported
    bool is_reported = false;
  };
  struct Host {
    std::vector<std::uint32_t> ranks;
    std::optional<Time> last_report;
    bool is_reported = false;
  };

  void take(RankReport report, Time now);
  void take_end(const RankReport& report, Time now);
  void report_resumed(std::vector<MonitorEvent>& news);
  void report_stuck(std::vector<MonitorEvent>& news);
  void report_idle(Time now, std::vector<MonitorEvent>& news);
  void report_computing(const std::vector<std::uint32_t>& ranks, std::vector<MonitorEvent>& news);
  void report_hosts(Time now, std::vector<MonitorEvent>& news);
  std::string name_of(const std::vector<std::uint32_t>& ranks) const;
  IdleRanks idle_ranks(std::vector<std::uint32_t>& ranks) const;
  IdleRanks awaited_ranks(const std::vector<std::uint32_t>& ranks) const;
  std::vector<std::uint32_t> raised_among(const std::vector<std::uint32_t>& ranks) const;
  IdleRanks with_exception(IdleRanks named) const;
  Standstill stuck_now(const std::vector<std::uint32_t>& ranks, Time now) const;
  std::vector<std::uint32_t> running_on(const Host& host) const;
  Message describe_silence(const std::string& name, const Host& host, Time now) const;
  Time::duration silence_of(const Host& host, Time now) const;
  bool is_all_quiet() const;
  std::vector<std::uint32_t> computing_ranks() const;
  std::string others_of(std::size_t idle, std::size_t alive) const;
  bool is_watched(const Host& host) const;
  bool failed_by_itself(const std::string& name) const;

  bool here(const std::string& host) const { return is_here_ && is_here_(host); }

  std::string token_;
  std::function<bool(const std::string& host)> is_here_;
  std::function<void(const RankReport&, Time)> sink_;
  std::function<std::string(std::uint32_t rank)> exception_of_;
  std::string exception_remedy_;
  std::function<bool()> has_py_spy_;
  std::map<std::uint32_t, Rank> ranks_;
  std::map<std::string, Host> hosts_;
  std::vector<MonitorEvent> pending_;
  std::string note_;                      // for the caller of take_line()
  std::map<std::uint32_t, int> resumed_;  // with the seconds for which it stood; not yet printed
  std::optional<Time> first_report_;
  Time last_tick_, first_failed_;
  std::optional<Time> released_;  // when the last rank that was stopped went on
  std::chrono::steady_clock::duration idle_delay_, stall_after_;
  bool kills_programs_ = false;
  bool expects_saves_ = false;
  bool urgent_ = false;
  bool all_idle_reported_ = false;
  MonitorRecord record_;
};

}  // namespace ddlrun::launch
