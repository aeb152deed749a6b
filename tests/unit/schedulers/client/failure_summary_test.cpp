// SPDX-License-Identifier: MIT
#include "schedulers/client/failure_summary.hpp"

#include "schedulers/client/job_outcome.hpp"
#include "tests/support/failed_job.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;

using tests::FailedJob;

TEST_SUITE_BEGIN("schedulers/client/failure_summary");

TEST_CASE("what the scheduler reports of an end goes to the diagnosis; the job's own failure does not") {
  FailedJob failed;
  System system = failed.interfaces();
  failed.status.reason = "terminated by ddl@node1";
  CHECK(job_context(system, failed.job, failed.status).end.empty());
  failed.status.state = JobState::cancelled;
  diagnose::JobContext context = job_context(system, failed.job, failed.status);
  CHECK(context.end == "was cancelled: terminated by ddl@node1");
  CHECK(context.is_certain);
  CHECK(context.tagging() == "ddlrun submit --rank-output prefix");
  failed.files.files[failed.job.dir + "/ddlrun.yaml"] = "runner: srun\n";
  context = job_context(system, failed.job, failed.status);
  CHECK(context.tagging() == "ddlrun submit --runner ddlrun --rank-output prefix");
  failed.job.dir.clear();  // a job of sbatch
  CHECK(job_context(system, failed.job, failed.status).tagging().empty());
}

TEST_CASE("all ranks failed alike: none is named") {
  FailedJob failed;
  const FailureSummary found = failed.summary(
      "Traceback (most recent call last):\n  File \"train.py\", line 30, in <module>\nKeyError: 'label'\n"
      "ddlrun: all 4 ranks failed alike: exit status 1\n"
      "ddlrun: the job ended with status 1; run directory /r/1\n");
  CHECK(found.cause() == "all 4 ranks failed alike: exit status 1: KeyError: 'label' (train.py:30)");
}

TEST_CASE("several ranks that failed at once: none is named as the one that printed the exception") {
  FailedJob failed;
  const FailureSummary found = failed.summary(
      "Traceback (most recent call last):\n  File \"train.py\", line 30, in <module>\nKeyError: 'label'\n"
      "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
      "the job to be terminated. The first process to do so was:\n\n"
      "  Process name: [[48921,1],2]\n  Exit code:    1\n"
      "ddlrun: ranks 2 on node2 and 1 on node1 failed within 1 s: exit status 1\n"
      "ddlrun: the job ended with status 1; run directory /r/1\n");
  CHECK(found.cause() ==
        "ranks 2 on node2 and 1 on node1 failed within 1 s: exit status 1: KeyError: 'label' (train.py:30)");
  CHECK(found.diagnosis.find("rank 2") == std::string::npos);
}

TEST_CASE("exit status 75 is no failure: the program saved") {
  FailedJob failed;
  failed.status.exit_status = 75;
  const std::string log = "ddlrun: rank 1 on node2 failed first: it exited with status 75\n";
  CHECK(failed.summary(log).cause().empty());
  CHECK(render_end(failed.job, failed.status, "") ==
        "job 42 was stopped by its signal, and saved (exit status 75)");
  System system = failed.interfaces();
  print_outcome(system, failed.job, failed.status);
  CHECK(failed.err.find("failed") == std::string::npos);
  CHECK(failed.err.find("try: ddlrun resubmit 42 ") != std::string::npos);
}

TEST_CASE("the status of a saved job names the job that goes on") {
  FailedJob failed;
  failed.status.exit_status = 75;
  System system = failed.interfaces();
  add_cause(system, failed.job, failed.status, 1 << 20);
  CHECK(failed.status.explained == saved_end_text);
  failed.files.files[failed.job.dir + "/next_job"] = "43\n";
  add_cause(system, failed.job, failed.status, 1 << 20);
  CHECK(failed.status.explained == "stopped by its signal, and saved; goes on as job 43");
}

TEST_CASE("the rank that failed first, from srun's log") {
  FailedJob failed;
  const FailureSummary found = failed.summary(
      "srun: error: node2: task 3: Exited with exit code 4\nsrun: error: node1: task 0: Terminated\n");
  CHECK(found.first == "rank 3 on node2 failed first: Exited with exit code 4");
}

TEST_CASE("the rank that failed first, as launch names it: of its last start, whatever was printed first") {
  FailedJob failed;
  const FailureSummary found = failed.summary(
      "ddlrun: rank 2 on node1 failed first: it exited with status 9\n"
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nValueError: of rank 0\n"
      "ddlrun: rank 1 on node2 failed first: it exited with status 4\n");
  CHECK(found.first == "rank 1 on node2 failed first: it exited with status 4");
  CHECK(found.cause().starts_with(
      "rank 1 on node2 failed first: it exited with status 4: ValueError: of rank"));
}

TEST_CASE("each form of launch's end line counts, and no other line") {
  for (const std::string line :
       {"rank 1 on node2 failed first: it was ended by signal 11 (SIGSEGV), status 139",
        "rank 1 on node2 failed first: it left while the other ranks waited for it",
        "rank 1 on node2 failed first: it was stopped while the other ranks waited for it",
        "rank 1 on node2 failed first: it did not respond while the other ranks waited for it",
        "all 4 ranks failed alike: exit status 1",
        "ranks 2 on node2 and 1 on node1 failed within 1 s: exit status 1 and 3",
        "ranks 0 and 1 failed first: they make different calls"}) {
    CAPTURE(line);
    FailedJob failed;
    CHECK(failed.summary("KeyError: 1\nddlrun: " + line + "\n").first == line);
    CHECK(failed.summary("KeyError: 1\nmy ddlrun: " + line + "\n").first != line);
  }
}

TEST_CASE("how tasks of an array stand, and how they ended") {
  JobStatus array;
  for (const auto& [id, state, hosts] :
       {std::tuple{"3[0].s", JobState::running, "node1"}, std::tuple{"3[1].s", JobState::failed, "node2"},
        std::tuple{"3[2].s", JobState::queued, ""}}) {
    JobStatus& task = array.tasks.emplace_back();
    task.id = id;
    task.state = state;
    task.hosts = hosts;
  }
  CHECK(render_state(array) == "running: task 0 on node1; 1 queued; 1 failed");
  CHECK(telling_task(array.tasks) == "3[1].s");
  array.tasks.erase(array.tasks.begin(), array.tasks.begin() + 2);
  array.tasks[0].explained = "it waits";
  CHECK(render_state(array) == "1 queued, it waits");
  array.state = array.tasks[0].state = JobState::failed;
  CHECK(render_end({}, array, "", "; logs /w/output.TASK.log") ==
        "job  failed; logs /w/output.TASK.log\n  3[2].s failed");
}

// OpenPBS 23.06: Exit_status -20 of a job whose host went away, and an empty log. It is no mpirun that ended
// with 1.
TEST_CASE("a job that its scheduler ended has no exit status that a signature could match") {
  for (const JobState state : {JobState::node_failed, JobState::failed}) {
    FailedJob failed;
    failed.job.scheduler = SchedulerKind::pbs;
    failed.status.state = state;
    failed.status.exit_status.reset();
    const FailureSummary found = failed.summary("");
    CHECK(found.title.empty());
    CHECK(found.diagnosis.empty());
  }
}

TEST_CASE("a known cause has a title, and is rendered unless launch has printed it") {
  FailedJob failed;
  const std::string log =
      "slurmstepd: error: Detected 1 oom_kill event in StepId=42.0. Some of the step tasks have "
      "been OOM Killed.\n";
  const FailureSummary found = failed.summary(log);
  CHECK_FALSE(found.title.empty());
  CHECK_FALSE(found.diagnosis.empty());
  const FailureSummary again = failed.summary(log + "ddlrun: what the output says:\n");
  CHECK(again.title == found.title);
  CHECK(again.diagnosis.empty());
}

TEST_CASE("a job that stood still until its time limit has the cause of that; one that worked has none") {
  const std::string error =
      "Traceback (most recent call last):\n  File \"train.py\", line 18, in <module>\n"
      "IndexError: list index out of range\n";
  const std::string limit =
      "slurmstepd: error: *** JOB 42 ON node2 CANCELLED AT 2024-01-02T03:04:05 DUE TO TIME LIMIT ***\n";
  FailedJob failed;
  failed.status.state = JobState::timed_out;
  failed.status.exit_status.reset();
  const FailureSummary stood = failed.summary("step 1\n" + error + limit);
  CHECK(stood.cause() == "IndexError: list index out of range (train.py:18)");
  CHECK(stood.diagnosis.find("python3 -m mpi4py") != std::string::npos);
  const FailureSummary worked = failed.summary("step 1\nstep 2\n" + limit);
  CHECK(worked.cause().empty());
  CHECK(worked.diagnosis.empty());
  // How the ranks were ended at the limit is no cause.
  failed.status.exit_status = 143;
  const FailureSummary ended = failed.summary(
      "mpirun noticed that process rank 0 with PID 0 on node vm exited on signal 15 (Terminated).\n");
  CHECK(ended.cause().empty());
  CHECK(ended.diagnosis.empty());
  failed.status.exit_status.reset();

  System system = failed.interfaces();
  failed.files.files[failed.job.output] = "step 1\n" + error + limit;
  print_outcome(system, failed.job, failed.status);
  CHECK(failed.err.find("used up its time limit and was ended: IndexError") != std::string::npos);
  CHECK(failed.err.find("longer --walltime") == std::string::npos);
}

TEST_CASE("a job whose log could not be written names the directory that is missing") {
  for (const bool is_there : {false, true}) {
    CAPTURE(is_there);
    FailedJob failed;
    System system = failed.interfaces();
    failed.job.output = "/w/logs/42.out";
    if (is_there) failed.files.files[failed.job.output] = "";
    print_outcome(system, failed.job, failed.status);
    CAPTURE(failed.err);
    CHECK((failed.err.find("the output's directory /w/logs does not exist") == std::string::npos) ==
          is_there);
    CHECK((failed.err.find("try: mkdir -p /w/logs; then ddlrun resubmit 42\n") == std::string::npos) ==
          is_there);
  }
}

TEST_CASE("-q shows the whole end of a job that failed, and nothing of others") {
  struct Row {
    JobState state;
    int exit_status;
    bool shown;
  };
  for (const Row& row : {Row{JobState::failed, 1, true}, Row{JobState::failed, 75, false},
                         Row{JobState::completed, 0, false}, Row{JobState::timed_out, 0, true},
                         Row{JobState::cancelled, 0, true}, Row{JobState::unknown, 0, true}}) {
    CAPTURE(row.shown);
    FailedJob failed;
    System system = failed.interfaces();
    std::string shown;
    system.shown_err = [&](std::string_view text) { shown += text; };
    failed.job.output = "/w/logs/42.out";
    failed.status.state = row.state;
    failed.status.exit_status = row.exit_status;
    print_outcome(system, failed.job, failed.status);
    CHECK(shown.empty() != row.shown);
    CHECK((failed.err.find("ddlrun: job 42 ") == std::string::npos) == row.shown);
    if (row.state == JobState::failed && row.shown)
      CHECK(shown.find("the output's directory /w/logs does not exist") != std::string::npos);
  }
}

TEST_CASE("no words of a job that ended well, was cancelled, or has no log") {
  FailedJob failed;
  for (const JobState state : {JobState::completed, JobState::cancelled, JobState::running}) {
    failed.status.state = state;
    failed.stop("ddlrun job: x\n  try: y\n");
    CHECK(failed.summary("ddlrun job: x\n  try: y\n").cause().empty());
  }
  failed.status.state = JobState::failed;
  failed.job.output.clear();
  System system = failed.interfaces();
  CHECK(read_job_words(system, failed.job, failed.status).cause().empty());
}

TEST_CASE("a failed job without an explanation gets the cause from its log") {
  FailedJob failed;
  const std::string words = "ddlrun job: no such program\n  try: ls\n";
  failed.files.files[failed.job.output] = words;
  failed.stop(words);
  System system = failed.system_with_host();
  add_cause(system, failed.job, failed.status, 1u << 20);
  CHECK(failed.status.explained == "no such program");
  JobStatus large = {};
  large.state = JobState::failed;
  add_cause(system, failed.job, large, 3);  // the log is longer than that
  CHECK(large.explained.empty());
}

TEST_SUITE_END();
