// SPDX-License-Identifier: MIT
// What the head makes of the signs of its ranks: which stalls, which host is silent, which failed first.
// Pure: lines and the time go in, messages come out.
#pragma once

#include "base/text/error.hpp"
#include "launch/monitor/daemon_loss.hpp"
#include "launch/monitor/placement_check.hpp"
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
};

// What is kept of it.
struct MonitorRecord {
  std::optional<RankReport> first_failure;  // the first that launch read, or a rank killed alone soon after
  std::optional<RankReport> first_ended;    // by SIGTERM or SIGKILL, as mpirun does to the others
  std::vector<RankReport> stalls;           // as they were reported
  std::string stall;                        // the last for which --on-stall end may end the job, in words
  std::vector<std::string> silent_hosts;    // at any time
  std::vector<std::string> lost_hosts;      // named as lost, or without reports of their ranks' ends
  std::map<std::uint32_t, int> ends;        // exit status by rank, of the ranks that reported
  std::vector<std::uint32_t> left_early;    // ended with status 0 before any failure, in this order
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

  // What of the line belongs to the user.
  std::string take_line(std::string_view line, Time now);
  // A report came that should be printed at once.
  bool urgent() const { return urgent_; }
  // Then, and about once a second: the events to print.
  std::vector<MonitorEvent> tick(Time now);
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
    Time since;  // when the stall was reported
    bool is_reported = false;
  };
  struct Host {
    std::vector<std::uint32_t> ranks;
    std::optional<Time> last_report;
    bool is_reported = false;
  };

  void take(const RankReport& report, Time now);
  void report_resumed(std::vector<MonitorEvent>& news);
  void report_stuck(std::vector<MonitorEvent>& news);
  void report_idle(Time now, std::vector<MonitorEvent>& news);
  void report_hosts(Time now, std::vector<MonitorEvent>& news);
  std::string name_of(const std::vector<std::uint32_t>& ranks) const;
  MonitorEvent idle_news(std::vector<std::uint32_t> ranks) const;
  bool is_watched(const Host& host) const;
  bool failed_by_itself(const std::string& name) const;

  bool here(const std::string& host) const { return is_here_ && is_here_(host); }

  std::string token_;
  std::function<bool(const std::string& host)> is_here_;
  std::map<std::uint32_t, Rank> ranks_;
  std::map<std::string, Host> hosts_;
  std::vector<MonitorEvent> pending_;
  std::map<std::uint32_t, int> resumed_;  // with the seconds for which it stood; not yet printed
  std::optional<Time> first_report_;
  Time last_tick_, first_failed_;
  std::chrono::steady_clock::duration idle_delay_;
  bool kills_programs_ = false;
  bool urgent_ = false;
  bool all_idle_reported_ = false;
  MonitorRecord record_;
};

// The one that failed first, for a job that ended with `status`. Who was ended by SIGTERM or SIGKILL counts
// only if that is the job's own status: else mpirun did it, because of something else.
std::optional<RankReport> find_first_failure(const MonitorRecord& record, int status);

// The rank for which the others waited, by their messages, failed before those ranks did: also where it left
// with status 0, or has not ended. A rank that a signal ended by itself was first nevertheless.
// `stood_still`: it had not left, so that only status 0 is an end of its own.
void blame(MonitorRecord& record, std::uint32_t rank, const std::string& host, bool stood_still = false);

// Of a rank's status: a launcher ends ranks by TERM, then KILL, whatever signal it got.
bool is_ended_by_launcher(int status);

// The status with which each of the `ranks` ended by itself, if it is one and the same, and not 0.
std::optional<int> find_common_end(const MonitorRecord& record, std::size_t ranks);

// Each of the `ranks` reported its end with status 0.
bool all_ended_well(const MonitorRecord& record, std::size_t ranks);

// "host h2 was lost: the connection to it broke, or its daemon was killed".
std::string render_lost_hosts(const std::vector<std::string>& hosts);

// "rank 3 on h2", "ranks 0-3". `host`: of one rank; or "".
std::string name_ranks(const std::vector<std::uint32_t>& ranks, const std::string& host = {});

// Of a rank that has ended: "exited with status 7", "was ended by signal 9 (SIGKILL)".
std::string describe_end(const RankReport& report);

// "did not respond while the other ranks waited for it", or was stopped, or left (with status 0); "" for a
// bad end of its own.
std::string describe_absence(const RankReport& report);

// "rank 3 on h2 failed first: it exited with status 7", with what the signal is called.
std::string render_first_failure(const RankReport& report);

}  // namespace ddlrun::launch
