// SPDX-License-Identifier: MIT
#include "launch/monitor/overdue_end.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

using namespace ddlrun;
using launch::OverdueEndDetector;
using std::chrono::milliseconds;

TEST_SUITE_BEGIN("launch/monitor/overdue_end");

TEST_CASE("mpirun is overdue 10 s after the last rank, if it is idle and nothing waits for it") {
  struct Row {
    std::string what;
    std::function<void(int second, bool& ended, ChildView& mpirun)> change;
    int overdue_after;  // seconds; -1: never in 30 s
  };
  const std::vector<Row> rows{
      {"idle", [](int, bool&, ChildView&) {}, 10},
      {"a rank runs for 7 s", [](int second, bool& ended, ChildView&) { ended = second >= 7; }, 17},
      {"it passes output on for 5 s",
       [](int second, bool&, ChildView& mpirun) { mpirun.bytes_written = second < 5 ? second : 5; }, 15},
      {"a pager holds its output", [](int, bool&, ChildView& mpirun) { mpirun.stdout_full = true; }, -1},
      {"connections are left",
       [](int, bool&, ChildView& mpirun) {
         mpirun.below = {"ssh", "ssh"};
       },
       10},
      {"a process of MPI_Comm_spawn",
       [](int, bool&, ChildView& mpirun) {
         mpirun.below = {"ssh", "worker"};
       },
       -1},
      {"the kernel counts no bytes", [](int, bool&, ChildView& mpirun) { mpirun.bytes_written.reset(); }, -1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    OverdueEndDetector detector;
    const auto start = std::chrono::steady_clock::now();
    int overdue_after = -1;
    for (int tick = 0; tick <= 60 && overdue_after < 0; ++tick) {
      bool ended = true;
      ChildView mpirun{{}, 0, false};
      row.change(tick / 2, ended, mpirun);
      if (detector.tick(start + tick * milliseconds(500), ended, mpirun)) overdue_after = tick / 2;
    }
    CHECK(overdue_after == row.overdue_after);
  }
}

TEST_CASE("the time in which launch itself was stopped does not count") {
  OverdueEndDetector detector;
  const auto start = std::chrono::steady_clock::now();
  const ChildView idle{{}, 7, false};
  CHECK_FALSE(detector.tick(start, true, idle));
  CHECK_FALSE(detector.tick(start + milliseconds(500), true, idle));
  CHECK_FALSE(detector.tick(start + milliseconds(60'500), true, idle));
  CHECK_FALSE(detector.tick(start + milliseconds(61'000), true, idle));
}

TEST_SUITE_END();
