// SPDX-License-Identifier: MIT
// What launch does while the ranks run: takes their status lines out of stderr, compares their places with
// the plan, reports stalled ranks and silent hosts, and ends the job where that is requested.
//
//   running --stall, --on-stall end--> ending --> killed after 10 s
//      |----TERM to launch--> ranks signalled (SIGURG) --20 s--> mpirun signalled
//      |----only service ranks left--> services signalled
//      |----all ranks ended, mpirun idle for 10 s--> mpirun signalled --10 s--> killed
//      |----a rank failed, mpirun idle for 45 s--> mpirun signalled --10 s--> killed
//      |----lost host, or hydra without connections--> killed
#pragma once

#include "base/os/system.hpp"
#include "launch/monitor/daemon_loss.hpp"
#include "launch/monitor/exit_banner.hpp"
#include "launch/monitor/overdue_end.hpp"
#include "launch/monitor/placement_check.hpp"
#include "launch/monitor/rank_monitor.hpp"
#include "launch/monitor/stop_signals.hpp"
#include "launch/run/failure_cause.hpp"
#include "launch/run/last_lines.hpp"
#include "launch/run/launch_output.hpp"
#include "launch/run/launch_run.hpp"
#include "launch/run/stderr_analysis.hpp"
#include "launch/run/usage_writer.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

class LaunchMonitor {
 public:
  LaunchMonitor(System& system, const LaunchRun& run);

  // For run_guarded; refers to this.
  RunHooks hooks();
  // How the job ended: as its ranks did, if mpirun did not end after them.
  ProcessResult result_of_job(ProcessResult result);
  // After the end: prints the ranks that never reported their place, and writes how all ranks ended.
  void finish(const ProcessResult& result);

  std::vector<PlacementRow> places() const { return placement_.rows(); }
  std::optional<MonitorRecord> watched() const;
  // What stood on stderr last.
  std::vector<std::string> last_lines() const { return last_.lines(); }
  // Why the job ended badly, for people, or what is known of its end; "" after a stall or a lost host.
  std::string diagnosis(const ProcessResult& result);
  const FailureCause& cause() const { return cause_; }  // after diagnosis()
  // The status of a job that had to be ended: 124 after a stall, 5 with a host lost; else nothing.
  std::optional<int> status(const ProcessResult& result) const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  void take(std::string_view line);
  void analyse(std::string_view line, std::optional<std::uint32_t> rank);
  void report_events(Time now);
  int tick(Time now, const ChildView& mpirun);
  JobEnd job_end() const;
  bool is_overdue(Time now, const ChildView& mpirun);
  bool outlives_failure(Time now);
  bool is_failure(const ProcessResult& result) const;
  bool launcher_was_killed(const ProcessResult& result) const;
  // Of a rank that no launcher has ended.
  bool has_own_failure() const {
    const auto first = ranks_ ? ranks_->record().first_failure : std::nullopt;
    return first && !is_ended_by_launcher(first->exit_status);
  }
  // The last note names a rank that printed an exception: it explains the end, also after a signal.
  bool hangs_behind_exception() const { return ranks_ && ranks_->record().raised && !has_own_failure(); }
  bool lost_silently(const ProcessResult& result) const;
  bool only_services_left() const;
  bool is_lost(Time now, std::ptrdiff_t sshs);
  // hydra 4.2 ends by itself where it does not reach a host.
  bool is_unreached() const { return daemons_.lost().unreached && ranks_ && !ranks_->has_report(); }
  bool is_deserted(Time now, std::size_t below);

  System& system_;
  const LaunchRun& run_;
  PlacementWatch placement_;
  std::optional<RankMonitor> ranks_;
  std::optional<UsageWriter> usage_;  // where there is ranks_
  bool places_printed_ = false;
  bool trainer_printed_error_ = false;
  FailureCause cause_;
  ExitBannerFilter banner_;
  bool stalled_ = false;
  std::optional<Time> ending_since_;
  StopSignals stop_;
  std::optional<Time> only_services_since_;
  std::optional<Time> services_signalled_;  // to end, as all others have
  bool end_announced_ = false;              // by mpirun, because of a rank
  std::optional<int> announced_status_;     // of that rank
  OverdueEndDetector overdue_;
  std::optional<Time> overdue_since_;  // mpirun is ended, as it did not end after its ranks or a failure
  std::optional<Time> failed_since_;   // a rank has failed, as far as MPICH's mpiexec ignores it
  StderrAnalysis analysis_;
  bool after_rule_ = false;  // the line before was the last of a message of Open MPI
  DaemonLossDetector daemons_;
  std::ptrdiff_t most_sshs_ = 0;
  std::size_t most_below_ = 0;
  std::optional<Time> lost_since_;
  bool hides_kill_ = false;  // a killed supervisor or guard is behind the launcher's status
  bool killed_lost_ = false;
  std::optional<LaunchOutput> output_;
  LastLines last_;
  std::vector<std::string> down_;  // down by the scheduler, if no rank reported
};

}  // namespace ddlrun::launch
