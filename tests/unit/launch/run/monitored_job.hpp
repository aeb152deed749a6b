// SPDX-License-Identifier: MIT
// A job for tests of LaunchMonitor.
#pragma once

#include "launch/rank/placement_line.hpp"
#include "launch/run/launch_monitor.hpp"
#include "tests/support/fake_system.hpp"

namespace ddlrun::tests {

using launch::LaunchMonitor;
using launch::RankReport;
using launch::RankStatus;

// Two ranks on h1 and h2, under Open MPI, with supervisors that report by the token "tok".
struct Job : FakeSystem {
  launch::LaunchSpec spec;
  launch::LaunchPlan plan;
  System system = interfaces();
  launch::LaunchRun run{spec, plan, {}, {}, "/runs/r"};

  Job() {
    plan.placed.launcher.version.kind = launch::LauncherKind::open_mpi;
    plan.placed.job.hosts = {"h1", "h2"};
    plan.placed.job.ranks = {{0, 0, "h1", "0:0", {0}, 1}, {1, 0, "h2", "0:0", {0}, 1}};
    plan.program.token = "tok";
    plan.program.verify = true;
    run.command.forwards_end = true;
  }
  static std::string status_line(std::uint32_t rank, RankStatus sign, int exit_status = 0, int signal = 0,
                                 bool alone = false) {
    RankReport report;
    report.rank = rank;
    report.host = rank == 0 ? "h1" : "h2";
    report.sign = sign;
    report.exit_status = exit_status;
    report.signal = signal;
    report.alone = alone;
    return launch::render_status_line("tok", report);
  }
  static std::string place_line(std::uint32_t rank, int pu) {
    return launch::render_placement_line("tok", {rank, 0, rank == 0 ? "h1" : "h2", {pu}});
  }
};

inline ProcessResult ended(int exit_status) {
  ProcessResult result;
  result.exit_status = exit_status;
  return result;
}

}  // namespace ddlrun::tests
