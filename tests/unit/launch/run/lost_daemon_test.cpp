// SPDX-License-Identifier: MIT
#include "launch/run/launch_monitor.hpp"
#include "tests/unit/launch/run/monitored_job.hpp"

#include <doctest/doctest.h>
#include <signal.h>

using namespace ddlrun;
using launch::LaunchMonitor;
using launch::RankStatus;
using tests::ended;
using tests::Job;

TEST_SUITE_BEGIN("launch/run/lost_daemon");

TEST_CASE("Open MPI 5.0.7 exits with 0 after the loss of a host: the job has failed") {
  const std::string rule(74, '-');
  Job job;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  for (const std::uint32_t rank : {0u, 1u})
    hooks.on_stderr_line(Job::status_line(rank, RankStatus::heartbeat));
  for (const std::string& line :
       {rule, std::string("PRTE has lost communication with a remote daemon."), std::string(),
        std::string("  Remote daemon: [prterun-h1-84@0,2] on node h2"), rule})
    hooks.on_stderr_line(line + "\n");
  SUBCASE("no end came") {
    hooks.on_stderr_line(std::string(1, '\0'));
    CHECK(job.err.find('\0') == std::string::npos);
    monitor.finish(ended(0));
    CHECK(monitor.status(ended(0)) == 5);
    CHECK(monitor.watched()->lost_hosts == std::vector<std::string>{"h2"});
  }
  SUBCASE("the ends of the others came") {
    hooks.on_stderr_line(std::string(1, '\0') + Job::status_line(0, RankStatus::ended, 14));
    CHECK(job.err.find('\0') == std::string::npos);
    CHECK(monitor.status(ended(0)) == 5);
  }
  SUBCASE("all ranks had ended well") {
    for (const std::uint32_t rank : {0u, 1u}) hooks.on_stderr_line(Job::status_line(rank, RankStatus::ended));
    CHECK_FALSE(monitor.status(ended(0)).has_value());
  }
  SUBCASE("a NUL byte of the program stays") {
    hooks.on_stderr_line(std::string(2, '\0') + "\n");
    CHECK(job.err.ends_with(rule + "\n" + std::string(1, '\0') + "\n"));
  }
}

TEST_CASE("Open MPI 5.0.11 loses a daemon without words: its own status, and no rank failed by itself") {
  for (const int rank_status : {0, 128 + SIGTERM, 7}) {
    Job job;
    LaunchMonitor monitor(job.system, job.run);
    const RunHooks hooks = monitor.hooks();
    hooks.on_stderr_line(Job::status_line(0, RankStatus::heartbeat));
    if (rank_status != 0)
      hooks.on_stderr_line(
          Job::status_line(0, RankStatus::ended, rank_status, rank_status > 128 ? rank_status - 128 : 0));
    const std::optional<int> lost = rank_status == 7 ? std::nullopt : std::optional(5);
    CHECK(monitor.status(ended(255)) == lost);
    CHECK_FALSE(monitor.status(ended(1)).has_value());
    job.err.clear();
    monitor.finish(ended(255));
    if (rank_status == 0) CHECK(job.err.find("lost a daemon of another host") != std::string::npos);
  }
}

TEST_CASE("Intel MPI 2021.18 dies of SIGPIPE where it loses a daemon") {
  Job job;
  job.plan.placed.launcher.version.kind = launch::LauncherKind::intel_mpi;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  hooks.on_stderr_line(Job::status_line(0, RankStatus::heartbeat));
  ProcessResult result = ended(128 + SIGPIPE);
  result.signal = SIGPIPE;
  CHECK(monitor.status(result) == 5);
  monitor.finish(result);
  CHECK(job.err.find("lost a daemon of another host") != std::string::npos);
  hooks.on_stderr_line(Job::status_line(0, RankStatus::ended, 128 + SIGPIPE, SIGPIPE));
  CHECK_FALSE(monitor.status(result).has_value());  // a rank's own
}

TEST_CASE("Open MPI 4.1.4 has statuses of its own for a lost daemon: it is 5, and its start is diagnosed") {
  Job job;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  SUBCASE("while ranks run") {
    hooks.on_stderr_line(Job::status_line(0, RankStatus::heartbeat));
    hooks.on_stderr_line(Job::status_line(1, RankStatus::ended, 128 + SIGKILL, SIGKILL));
    hooks.on_stderr_line("ORTE has lost communication with a remote daemon.\n");
    CHECK(monitor.status(ended(205)) == 5);
    CHECK(monitor.diagnosis(ended(205)).empty());
  }
  SUBCASE("before they started") {
    hooks.on_stderr_line("ORTE was unable to reliably start one or more daemons.\n");
    CHECK(monitor.status(ended(255)) == 5);
    CHECK_FALSE(monitor.diagnosis(ended(255)).empty());
  }
}

TEST_CASE("hydra without a child for each host is ended, also where one was lost before the first look") {
  struct Row {
    std::size_t connections, below;
    bool ended;
  };
  for (const Row& row : {Row{2, 1, true}, Row{2, 2, false}, Row{0, 1, false}}) {
    Job job;
    job.plan.placed.launcher.version.kind = launch::LauncherKind::mpich;
    job.run.command.connections = row.connections;
    LaunchMonitor monitor(job.system, job.run);
    const RunHooks hooks = monitor.hooks();
    ChildView view;
    int signal = 0;
    for (int second = 0; second < 8 && signal == 0; ++second) {
      view.below.assign(second == 0 ? row.below - 1 : row.below, "ssh");  // it starts them one by one
      signal = hooks.tick(view);
      job.clock.passed += std::chrono::seconds(1);
    }
    CHECK(signal == (row.ended ? SIGKILL : 0));
    CHECK((job.err.find("1 of 2 connections of mpiexec are gone") != std::string::npos) == row.ended);
  }
}

// MPICH 4.0.2: a proxy that had not connected when a rank was killed is never ended.
TEST_CASE("MPICH's mpiexec that waits on after a rank was killed is ended, as after one that failed") {
  for (const int signal : {SIGKILL, SIGTERM}) {
    Job job;
    job.plan.placed.launcher.version.kind = launch::LauncherKind::mpich;
    LaunchMonitor monitor(job.system, job.run);
    const RunHooks hooks = monitor.hooks();
    hooks.on_stderr_line(Job::status_line(1, RankStatus::heartbeat));
    hooks.on_stderr_line(Job::status_line(0, RankStatus::ended, 128 + signal, signal));
    ChildView view;
    view.below = {"hydra_pmi_proxy", "ssh"};
    CHECK(hooks.tick(view) == 0);
    job.clock.passed += std::chrono::seconds(3);
    const bool is_kill = signal == SIGKILL;  // the launcher ends ranks by TERM, which they may take time for
    CHECK(hooks.tick(view) == (is_kill ? SIGTERM : 0));
    CHECK((job.err.find("rank 0 has failed: the other ranks are ended") != std::string::npos) == is_kill);
    job.clock.passed += std::chrono::seconds(11);
    CHECK(hooks.tick(view) == (is_kill ? SIGKILL : 0));
    if (is_kill) CHECK(monitor.result_of_job(ended(0)).exit_status == 137);
  }
}

TEST_CASE("a supervisor that was killed under hydra or srun is status 137") {
  struct Row {
    launch::LauncherKind kind;
    const char* line;
    int status;
  };
  for (const Row& row :
       {Row{launch::LauncherKind::mpich,
            "[proxy:0@h1] HYD_pmcd_pmip_control_cmd_cb (pmip_cb.c:490): assert (!closed) failed\n", 255},
        Row{launch::LauncherKind::srun, "srun: error: h2: task 1: Killed\n", 143}}) {
    Job job;
    job.plan.placed.launcher.version.kind = row.kind;
    LaunchMonitor monitor(job.system, job.run);
    const RunHooks hooks = monitor.hooks();
    hooks.on_stderr_line(Job::status_line(0, RankStatus::heartbeat));
    hooks.on_stderr_line(row.line);
    if (row.status == 143) hooks.on_stderr_line(Job::status_line(0, RankStatus::ended, 143, SIGTERM));
    CHECK(monitor.result_of_job(ended(row.status)).exit_status == 137);
    CHECK_FALSE(monitor.watched()->first_failure);
  }
}

TEST_SUITE_END();
