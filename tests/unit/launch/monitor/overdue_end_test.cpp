// SPDX-License-Identifier: MIT
#include "launch/monitor/overdue_end.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

using namespace ddlrun;
using launch::JobEnd;
using launch::OverdueEndDetector;
using std::chrono::milliseconds;

TEST_SUITE_BEGIN("launch/monitor/overdue_end");

TEST_CASE("mpirun is overdue 10 s after the last rank, or 45 s after a failure, if it is idle") {
  struct Row {
    std::string what;
    std::function<void(int second, JobEnd& end, ChildView& mpirun)> change;
    int overdue_after;  // seconds; -1: never in 90 s
  };
  const std::vector<Row> rows{
      {"idle", [](int, JobEnd&, ChildView&) {}, 10},
      {"a rank runs for 7 s",
       [](int second, JobEnd& end, ChildView&) { end = second >= 7 ? JobEnd::all_ended : JobEnd::none; }, 17},
      {"it passes output on for 5 s",
       [](int second, JobEnd&, ChildView& mpirun) { mpirun.bytes_written = second < 5 ? second : 5; }, 15},
      {"a pager holds its output", [](int, JobEnd&, ChildView& mpirun) { mpirun.stdout_full = true; }, -1},
      {"connections are left",
       [](int, JobEnd&, ChildView& mpirun) {
         mpirun.below = {"ssh", "ssh"};
       },
       10},
      {"a process of MPI_Comm_spawn",
       [](int, JobEnd&, ChildView& mpirun) {
         mpirun.below = {"ssh", "worker"};
       },
       -1},
      {"the kernel counts no bytes", [](int, JobEnd&, ChildView& mpirun) { mpirun.bytes_written.reset(); },
       -1},
      {"it is stopped", [](int, JobEnd&, ChildView& mpirun) { mpirun.stopped = true; }, -1},
      {"it ends the job because of a rank", [](int, JobEnd& end, ChildView&) { end = JobEnd::failing; }, 45},
      {"it does not end the other ranks",
       [](int, JobEnd& end, ChildView& mpirun) {
         end = JobEnd::failing;
         mpirun.below = {"ddlrun"};
       },
       45},
      {"the last rank ends while it ends the job",
       [](int second, JobEnd& end, ChildView&) { end = second < 8 ? JobEnd::failing : JobEnd::all_ended; },
       10},
      {"a rank has failed, and another prints for 5 s",
       [](int second, JobEnd& end, ChildView& mpirun) {
         end = JobEnd::failing;
         mpirun.bytes_written = second < 5 ? second : 5;
       },
       50},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    OverdueEndDetector detector;
    const auto start = std::chrono::steady_clock::now();
    int overdue_after = -1;
    for (int tick = 0; tick <= 180 && overdue_after < 0; ++tick) {
      JobEnd end = JobEnd::all_ended;
      ChildView mpirun{{}, 0, false};
      row.change(tick / 2, end, mpirun);
      if (detector.tick(start + tick * milliseconds(500), end, mpirun)) overdue_after = tick / 2;
    }
    CHECK(overdue_after == row.overdue_after);
  }
}

TEST_CASE("the time in which launch itself was stopped does not count") {
  OverdueEndDetector detector;
  const auto start = std::chrono::steady_clock::now();
  const ChildView idle{{}, 7, false};
  CHECK_FALSE(detector.tick(start, JobEnd::all_ended, idle));
  CHECK_FALSE(detector.tick(start + milliseconds(500), JobEnd::all_ended, idle));
  CHECK_FALSE(detector.tick(start + milliseconds(60'500), JobEnd::all_ended, idle));
  CHECK_FALSE(detector.tick(start + milliseconds(61'000), JobEnd::all_ended, idle));
  // What passed before counts: a host under load may stop launch for seconds again and again.
  for (int tick = 0; tick < 18; ++tick)
    CHECK_FALSE(detector.tick(start + milliseconds(61'500 + 500 * tick), JobEnd::all_ended, idle));
  CHECK(detector.tick(start + milliseconds(70'500), JobEnd::all_ended, idle));
}

TEST_SUITE_END();
