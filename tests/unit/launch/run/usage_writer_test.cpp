// SPDX-License-Identifier: MIT
#include "launch/run/usage_writer.hpp"

#include "tests/unit/launch/run/monitored_job.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::LaunchMonitor;
using launch::RankPhase;
using launch::RankStatus;
using tests::Job;

namespace {

// A disk that may be full, and slow.
struct SlowFiles : tests::FakeFiles {
  tests::FakeClock* clock = nullptr;
  std::chrono::milliseconds time{0};
  bool full = false;
  int tried = 0;
  void rewrite(const std::string& path, std::string_view bytes) override {
    ++tried;
    clock->passed += time;
    if (full) throw Error(ErrorKind::request, {"No space left on device", path, "df /runs"});
    FakeFiles::rewrite(path, bytes);
  }
};

struct WrittenJob : Job {
  SlowFiles disk;
  System own{processes, disk, clock, environment, system.out, system.err};
  LaunchMonitor monitor{own, run};
  RunHooks hooks = monitor.hooks();

  WrittenJob() { disk.clock = &clock; }
  void pass(int time_s) {
    for (int half = 0; half < 2 * time_s; ++half) {
      hooks.tick({});
      clock.passed += std::chrono::milliseconds(500);
    }
  }
  launch::UsageState state() {
    return launch::parse_usage_json(disk.files.at("/runs/r/usage.json"), "usage.json");
  }
  static std::string use(std::uint32_t rank, int cpu) {
    launch::RankReport report;
    report.rank = rank;
    report.host = "h1";
    report.usage = launch::RankUsage{cpu, 1024, 0, 0, false, {}};
    return launch::render_status_line("tok", report);
  }
};

}  // namespace

TEST_SUITE_BEGIN("launch/run/usage_writer");

TEST_CASE("the state of the ranks is written at once, each 2 s, and at the end") {
  WrittenJob job;
  job.pass(1);
  CHECK(job.disk.tried == 1);
  CHECK(job.state().ranks[0].phase == RankPhase::starting);
  job.hooks.on_stderr_line(WrittenJob::use(0, 95));
  CHECK(job.err.empty());
  job.pass(9);
  CHECK(job.disk.tried == 5);
  CHECK(job.state().ranks[0].phase == RankPhase::running);
  CHECK(job.state().ranks[0].cpu_percent == 95);
  CHECK(job.state().ranks[1].phase == RankPhase::starting);
  CHECK_FALSE(job.state().over);
  job.hooks.on_stderr_line(Job::status_line(0, RankStatus::ended, 7));
  job.monitor.finish(tests::ended(7));
  CHECK(job.state().over);
  CHECK(job.state().ranks[0].exit_status == 7);
}

TEST_CASE("a slow disk is written to less often: for a twentieth of the time at most") {
  WrittenJob job;
  job.disk.time = std::chrono::seconds(1);
  job.pass(60);
  CHECK(job.disk.tried <= 4);
  CHECK(job.disk.tried >= 3);
}

TEST_CASE("a full disk costs one note, and is tried again") {
  WrittenJob job;
  job.disk.full = true;
  job.pass(50);
  CHECK(job.disk.tried == 2);
  const std::string note = "ddlrun: note: the state of the ranks is not kept for ddlrun top: No space left";
  CHECK(job.err.find(note) != std::string::npos);
  CHECK(job.err.find(note) == job.err.rfind(note));
  job.disk.full = false;
  job.pass(40);
  CHECK(job.state().ranks.size() == 2);
}

TEST_CASE("without reports of the ranks nothing is written") {
  Job job;
  job.plan.program.has_status = false;
  LaunchMonitor monitor(job.system, job.run);
  monitor.finish(tests::ended(0));
  CHECK(job.files.rewritten.empty());
}
