// SPDX-License-Identifier: MIT
#include "launch/run/launch_monitor.hpp"

#include "base/process/posix_rank_supervisor.hpp"
#include "launch/rank/placement_line.hpp"
#include "launch/rank/stderr_source.hpp"
#include "tests/unit/launch/run/monitored_job.hpp"

#include <doctest/doctest.h>
#include <signal.h>

using namespace ddlrun;
using launch::LaunchMonitor;
using launch::RankReport;
using launch::RankStatus;
using tests::ended;
using tests::Job;

TEST_SUITE_BEGIN("launch/run/launch_monitor");

TEST_CASE("lines of the program pass, status and placement lines do not; the table is printed once") {
  Job job;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  hooks.on_stderr_line("a warning of the program\n");
  hooks.on_stderr_line(Job::status_line(0, RankStatus::heartbeat));
  hooks.on_stderr_line(Job::place_line(0, 0));
  CHECK(job.err == "a warning of the program\n");
  hooks.on_stderr_line(Job::place_line(1, 0));
  CHECK(job.err.find("2 of 2 ranks are where they were planned") != std::string::npos);
  job.err.clear();
  monitor.finish(ended(0));
  CHECK(job.err.empty());
  CHECK(monitor.last_lines() == std::vector<std::string>{"a warning of the program"});
  CHECK_FALSE(monitor.status(ended(0)).has_value());
}

TEST_CASE("a process guard that was killed is named as the cause, not a rank") {
  Job job;
  job.spec.monitor.diagnose = true;
  LaunchMonitor monitor(job.system, job.run);
  monitor.hooks().on_stderr_line(
      "mpirun noticed that process rank 0 with PID 7 on node h1 exited on signal 9 (Killed).\n");
  // The loss of the guard ends the ranks, which may be reported before it.
  monitor.hooks().on_stderr_line(Job::status_line(1, RankStatus::ended, 143, SIGTERM));
  ProcessResult result = ended(137);
  result.guard_was_killed = true;
  CHECK(monitor.result_of_job(result).exit_status == 137);
  CHECK_FALSE(monitor.watched()->first_failure);
  ProcessResult unstarted = ended(127);
  unstarted.guard_was_killed = true;
  unstarted.start_error = "killed";
  CHECK(monitor.result_of_job(unstarted).exit_status == 127);
  monitor.finish(result);
  CHECK(job.err.find("the process guard of the launcher was killed") != std::string::npos);
  CHECK(monitor.diagnosis(result).empty());
  CHECK(monitor.cause().was_printed);
  result.guard_was_killed = false;
  result.signal = SIGFPE;
  job.err.clear();
  monitor.finish(result);
  CHECK(job.err.find("itself was ended by signal 8 (SIGFPE)") != std::string::npos);
  CHECK(monitor.diagnosis(result).empty());
}

TEST_CASE("a crash of mpirun has the cause that its stack names; a stack of another program has none") {
  for (const bool of_mpirun : {true, false}) {
    Job job;
    job.spec.monitor.diagnose = true;
    LaunchMonitor monitor(job.system, job.run);
    const RunHooks hooks = monitor.hooks();
    hooks.on_stderr_line("[h1:51] *** Process received signal ***\n");
    hooks.on_stderr_line("[h1:51] Signal: Segmentation fault (11)\n");
    hooks.on_stderr_line(
        of_mpirun ? "[h1:51] [ 1] /lib/openmpi3/mca_iof_hnp.so(orte_iof_hnp_read_local_handler+0x2d6)[0x7f]\n"
                  : "[h1:51] [ 1] /lib/libevent_core-2.1.so.7(event_base_loop+0x49f)[0x7f]\n");
    ProcessResult result = ended(139);
    result.signal = SIGSEGV;
    monitor.finish(result);
    const std::string text = monitor.diagnosis(result);
    CHECK(text.empty() == !of_mpirun);
    CHECK((text.find("mpirun itself crashed: no rank did [E28]") != std::string::npos) == of_mpirun);
  }
}

TEST_CASE("an error of the trainer stands on the screen once, without mpirun's banners") {
  const std::string rule(74, '-');
  const std::string banners = rule +
                              "\nPrimary job  terminated normally, but 1 process returned\n"
                              "a non-zero exit code. Per user-direction, the job has been aborted.\n" +
                              rule + "\n" + rule +
                              "\nmpirun detected that one or more processes exited with non-zero status, "
                              "thus causing\nthe job to be terminated. The first process to do so was:\n\n"
                              "  Process name: [[1,1],1]\n  Exit code:    3\n" +
                              rule + "\n";
  const std::string error = "ddl-train: error: the JPEG is damaged\n  at:  a.jpg\n  try: remove it\n";
  for (const bool by_trainer : {true, false}) {
    CAPTURE(by_trainer);
    Job job;
    job.spec.monitor.diagnose = true;
    job.plan.program.verify = false;
    LaunchMonitor monitor(job.system, job.run);
    const RunHooks hooks = monitor.hooks();
    const std::string printed =
        (by_trainer ? error : "bye\n") + banners + rule + "\nanother message\n" + rule + "\n";
    for (std::size_t at = 0; at < printed.size();) {
      const std::size_t end = printed.find('\n', at) + 1;
      hooks.on_stderr_line(std::string_view(printed).substr(at, end - at));
      at = end;
    }
    monitor.finish(ended(3));
    CHECK(job.err == (by_trainer ? error + rule + "\nanother message\n" + rule + "\n" : printed));
    CHECK(monitor.last_lines().size() > 12);  // for the record all of them
    CHECK((!by_trainer || !monitor.diagnosis(ended(3)).empty()));
    CHECK(monitor.cause().was_printed == by_trainer);
    CHECK(monitor.cause().trainer_refused == by_trainer);
  }
}

TEST_CASE("a rank on other cores than planned is a warning, with --strict an error") {
  for (const bool strict : {false, true}) {
    Job job;
    job.spec.strict = strict;
    LaunchMonitor monitor(job.system, job.run);
    const RunHooks hooks = monitor.hooks();
    hooks.on_stderr_line(Job::place_line(0, 0));
    hooks.on_stderr_line(Job::place_line(1, 5));
    CHECK(job.err.find(strict ? "ddlrun: error: 1 of 2 ranks are NOT where"
                              : "ddlrun: warning: 1 of 2 ranks") != std::string::npos);
    CHECK(job.err.find("rank 1 on h2: ") != std::string::npos);
    CHECK(launch::count_verdicts(monitor.places()).differs == 1);
  }
}

TEST_CASE("ranks that never reported their place are named at the end") {
  Job job;
  LaunchMonitor monitor(job.system, job.run);
  monitor.finish(ended(0));
  CHECK(job.err.find("none of 2 ranks reported its place: they were not started") != std::string::npos);
}

TEST_CASE("TERM reaches the ranks first; mpirun gets it when it comes again") {
  Job job;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  CHECK(hooks.on_signal(SIGUSR1, false) == SIGUSR1);
  hooks.on_stderr_line(Job::status_line(0, RankStatus::heartbeat));
  CHECK(hooks.on_signal(SIGTERM, false) == end_signal);
  CHECK(hooks.on_signal(SIGTERM, false) == 0);  // of timeout(1), which signals the group as well
  job.clock.passed += std::chrono::seconds(2);
  CHECK(hooks.on_signal(SIGTERM, false) == SIGTERM);
  job.err.clear();
  hooks.on_stderr_line("mpirun: Forwarding signal " + std::to_string(end_signal) + " to job\n");
  CHECK(job.err.empty());  // mpirun's word about the signal that stands for TERM
}

TEST_CASE("INT from elsewhere than the keyboard goes to the ranks first, too") {
  Job job;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  hooks.on_stderr_line(Job::status_line(0, RankStatus::heartbeat));
  CHECK(hooks.on_signal(SIGINT, false) == end_signal);
  CHECK(hooks.on_signal(SIGINT, false) == 0);
}

TEST_CASE("mpirun that a signal does not end is killed") {
  Job job;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  hooks.on_stderr_line(Job::status_line(0, RankStatus::heartbeat));
  hooks.on_signal(SIGINT, true);  // Ctrl-C: mpirun has it
  CHECK(hooks.on_signal(SIGTERM, false) == 0);
  CHECK(hooks.tick({}) == 0);
  job.clock.passed += std::chrono::seconds(11);
  CHECK(hooks.tick({}) == SIGKILL);
}

// As Open MPI 4.1.4 does with `ulimit -f 600`: it prints this, and waits for a lock that it holds.
TEST_CASE("mpirun that hangs while it ends the job is ended, with the status of the rank") {
  for (const bool is_reported : {true, false}) {
    CAPTURE(is_reported);
    Job job;
    LaunchMonitor monitor(job.system, job.run);
    const RunHooks hooks = monitor.hooks();
    const ChildView idle{{}, 900, false, false};
    hooks.on_stderr_line(Job::status_line(0, RankStatus::heartbeat));
    if (is_reported) hooks.on_stderr_line(Job::status_line(1, RankStatus::ended, 7));
    int sent = 0, second = 0;
    const auto wait = [&](int until) {
      for (; second < until && sent == 0; ++second) {
        sent = hooks.tick(idle);
        job.clock.passed += std::chrono::seconds(1);
      }
    };
    wait(60);
    CHECK(sent == 0);  // the other rank goes on, as mpirun may be asked
    hooks.on_stderr_line("mpirun detected that one or more processes exited with non-zero status, thus\n");
    hooks.on_stderr_line("  Exit code:    7\n");
    CHECK(hooks.on_signal(SIGUSR1, false) == SIGUSR1);
    wait(120);
    CHECK(sent == SIGTERM);
    CHECK(second == 60 + 46);
    CHECK(job.err.find(is_reported ? "rank 1 has failed, but mpirun neither ends"
                                   : "a rank has failed, but mpirun neither ends") != std::string::npos);
    job.clock.passed += std::chrono::seconds(11);
    CHECK(hooks.tick(idle) == SIGKILL);
    ProcessResult killed = ended(137);
    killed.signal = SIGKILL;
    CHECK(monitor.result_of_job(killed).exit_status == 7);
    CHECK(monitor.result_of_job(killed).signal == 0);
  }
}

// The mpirun of Open MPI 5.0.7 hangs in its own lock, or aborts, behind this message.
TEST_CASE("mpirun that hangs after it has refused to map a job is ended") {
  for (const bool refuses : {true, false}) {
    Job job;
    LaunchMonitor monitor(job.system, job.run);
    const RunHooks hooks = monitor.hooks();
    const ChildView idle{{"ssh"}, 900, false, false};
    hooks.on_stderr_line(refuses ? "The rankfile that was used claimed that a host was either not\n"
                                 : "WARNING: a request was made to bind a process. While the system\n");
    int sent = 0, second = 0;
    for (; second < 90 && sent == 0; ++second) {
      sent = hooks.tick(idle);
      job.clock.passed += std::chrono::seconds(1);
    }
    CHECK(sent == (refuses ? SIGTERM : 0));
    if (!refuses) continue;
    CHECK(second == 47);
    CHECK(job.err.find("the job was refused, but mpirun neither ends") != std::string::npos);
    job.clock.passed += std::chrono::seconds(11);
    CHECK(hooks.tick(idle) == SIGKILL);
    CHECK(monitor.result_of_job(ended(137)).exit_status == 1);
  }
}

TEST_CASE("a signal goes to mpirun itself once a rank has failed: no rank is left that could save") {
  Job job;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  hooks.on_stderr_line(Job::status_line(0, RankStatus::heartbeat));
  hooks.on_stderr_line("mpirun detected that one or more processes exited with non-zero status, thus\n");
  CHECK(hooks.on_signal(SIGINT, false) == SIGINT);
  job.clock.passed += std::chrono::seconds(11);
  CHECK(hooks.tick({}) == SIGKILL);
}

TEST_CASE("TERM before any rank has reported goes to mpirun") {
  Job job;
  LaunchMonitor monitor(job.system, job.run);
  CHECK(monitor.hooks().on_signal(SIGTERM, false) == SIGTERM);
}

TEST_CASE("service ranks are ended once all others have ended well, and the job has succeeded") {
  Job job;
  job.plan.environment.service_ranks = {1};
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  hooks.on_stderr_line(Job::status_line(1, RankStatus::heartbeat));
  CHECK(hooks.tick({}) == 0);
  hooks.on_stderr_line(Job::status_line(0, RankStatus::ended, 0));
  CHECK(hooks.tick({}) == 0);  // the launcher may still have its last lines
  job.clock.passed += std::chrono::seconds(1);
  CHECK(hooks.tick({}) == SIGTERM);
  CHECK(hooks.tick({}) == 0);
  CHECK(monitor.status(ended(143)) == 0);
}

TEST_CASE("the first failure is kept for the record; the log's cause is rendered") {
  Job job;
  job.plan.program.verify = false;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  hooks.on_stderr_line("ModuleNotFoundError: No module named 'horovod'\n");
  hooks.on_stderr_line(Job::status_line(1, RankStatus::ended, 1));
  hooks.on_stderr_line(Job::status_line(0, RankStatus::ended, 143, 15));
  monitor.finish(ended(1));
  REQUIRE(monitor.watched().has_value());
  REQUIRE(monitor.watched()->first_failure.has_value());
  CHECK(monitor.watched()->first_failure->rank == 1);
  CHECK(monitor.watched()->ends.size() == 2);
  CHECK_FALSE(monitor.diagnosis(ended(1)).empty());
  CHECK(monitor.diagnosis(ended(0)).empty());
  ProcessResult stopped = ended(143);
  stopped.forwarded_signal = SIGTERM;
  CHECK(monitor.diagnosis(stopped).empty());
}

TEST_CASE("under ssh: each line's rank is known, and the supervisor's report gives signal and place") {
  Job job;
  job.plan.placed.launcher.version.kind = launch::LauncherKind::ssh;
  job.plan.program.verify = false;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  hooks.on_stderr_line(launch::mark_stderr_lines("tok", 0, "epoch 1\n"));
  hooks.on_stderr_line(launch::mark_stderr_lines("tok", 1, "bad table\n"));
  hooks.on_stderr_line(launch::mark_stderr_lines("tok", 1, Job::status_line(1, RankStatus::ended, 134, 6)));
  hooks.on_stderr_line(Job::status_line(1, RankStatus::ended, 134, 6));
  hooks.on_stderr_line(Job::status_line(0, RankStatus::ended, 143, 15));
  monitor.finish(ended(134));
  CHECK(job.err == "epoch 1\nbad table\n");
  CHECK(monitor.watched()->ends.size() == 2);
  const std::string diagnosis = monitor.diagnosis(ended(134));
  CAPTURE(diagnosis);
  CHECK(diagnosis.find("SIGABRT") < diagnosis.find('\n'));
  CHECK(diagnosis.find("at: rank 1 on h2\n") != std::string::npos);
  CHECK(diagnosis.find("HOST") == std::string::npos);
  CHECK(diagnosis.find("JOB") == std::string::npos);
}

TEST_CASE("under ssh: a cause that names a rank only gets the rank's host") {
  Job job;
  job.plan.placed.launcher.version.kind = launch::LauncherKind::ssh;
  job.plan.program.verify = false;
  LaunchMonitor monitor(job.system, job.run);
  monitor.hooks().on_stderr_line(launch::mark_stderr_lines(
      "tok", 1, "python3: can't open file '/w/a.py': [Errno 2] No such file or directory\n"));
  monitor.finish(ended(2));
  const std::string diagnosis = monitor.diagnosis(ended(2));
  CAPTURE(diagnosis);
  CHECK(diagnosis.find("at: rank 1 on h2\n") != std::string::npos);
}

// As measured with Open MPI 5.0.7: the other host's rank ends before mpirun knows who was killed.
TEST_CASE("a killed rank is the cause, though the error of another rank is reported before") {
  Job job;
  job.plan.program.verify = false;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  hooks.on_stderr_line("[h1:00000] *** An error occurred in Socket closed\n");
  hooks.on_stderr_line(Job::status_line(0, RankStatus::ended, 14));
  hooks.on_stderr_line(Job::status_line(1, RankStatus::ended, 137, 9, true));
  monitor.finish(ended(14));
  CHECK(monitor.watched()->first_failure->rank == 1);
  CHECK(monitor.diagnosis(ended(14)).starts_with("cause: a rank was killed (SIGKILL)"));
}

TEST_CASE("without supervisors, tokens and diagnosis nothing is read") {
  Job job;
  job.plan.program.token.clear();
  job.plan.program.has_status = false;
  job.spec.monitor.diagnose = false;
  LaunchMonitor monitor(job.system, job.run);
  const RunHooks hooks = monitor.hooks();
  CHECK_FALSE(hooks.on_stderr_line);
  CHECK_FALSE(hooks.tick);
  CHECK_FALSE(monitor.watched().has_value());
}

TEST_SUITE_END();
