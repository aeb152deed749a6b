// SPDX-License-Identifier: MIT
// What launch does while the ranks run: takes their own lines out of stderr, compares places with the plan,
// tells who stalls and which host is silent.
#pragma once

#include "base/os/system.hpp"
#include "doctor/diagnose/stream_analyzer.hpp"
#include "launch/monitor/daemon_loss.hpp"
#include "launch/monitor/placement_check.hpp"
#include "launch/monitor/rank_monitor.hpp"
#include "launch/run/launch_output.hpp"
#include "launch/run/launch_run.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::cli {

class LaunchMonitor {
 public:
  LaunchMonitor(System& system, const LaunchRun& run);

  // For run_guarded; refers to this.
  RunHooks hooks();
  // After the end: who never told its place.
  void finish(const ProcessResult& result);

  std::vector<launch::PlacementRow> places() const { return placement_.rows(); }
  std::optional<launch::MonitorRecord> watched() const;
  // What stood on stderr last.
  std::vector<std::string> last_lines() const { return {last_lines_.begin(), last_lines_.end()}; }
  // Why the job ended badly, for people; "" where nothing known was seen, or a stall or a lost host was told.
  std::string diagnosis(const ProcessResult& result);
  // After diagnosis(): its cause is an error of a rank's ddlrun, which named place and remedy on the screen.
  bool cause_was_told() const { return cause_was_told_; }
  // The status of a job that had to be ended: 124 after a stall, 5 with a host lost; else nothing.
  std::optional<int> status(const ProcessResult& result) const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  void take(std::string_view line);
  void keep_last(std::string_view line);
  void report_events(Time now);
  int take_signal(int signal, Time now);
  int tick(Time now, const std::vector<std::string>& below);
  bool only_servers_left() const;
  bool is_lost(Time now, std::ptrdiff_t sshs);
  bool is_deserted(Time now, std::size_t below);

  System& system_;
  const LaunchRun& run_;
  launch::PlacementWatch placement_;
  std::optional<launch::RankMonitor> ranks_;
  bool places_told_ = false;
  bool cause_was_told_ = false;
  bool stalled_ = false;
  std::optional<Time> ending_since_;
  std::optional<Time> ranks_told_;    // to end, as we were
  bool mpirun_told_ = false;          // it too, as they did not
  std::optional<Time> servers_told_;  // to end, as all others have
  diagnose::StreamAnalyzer lines_;
  launch::DaemonLossDetector daemons_;
  std::ptrdiff_t most_sshs_ = 0;
  std::size_t most_below_ = 0;
  std::optional<Time> lost_since_;
  bool killed_lost_ = false;
  std::optional<LaunchOutput> output_;
  std::deque<std::string> last_lines_;
  std::vector<std::string> down_;  // by the scheduler, where no rank was heard
};

}  // namespace ddlrun::cli
