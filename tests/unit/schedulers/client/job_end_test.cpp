// SPDX-License-Identifier: MIT
// The end of a job, once it was seen, stays the same after its scheduler has forgotten the job.
#include "schedulers/client/job_end.hpp"

#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_query.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

const std::string job_dir = "/w/ddlrun-jobs/job/";

// Slurm as squeue lists it; "" once it has forgotten the job.
struct Forgetful : tests::FakeSystem {
  JobRef job;
  std::string rows;
  Forgetful() {
    environment.variables["HOME"] = "/home/none";  // no history there
    job.id = "8";
    job.scheduler = SchedulerKind::slurm;
    job.dir = "/w/ddlrun-jobs/job";
    job.output = job_dir + "output.log";
    processes.answer = [this](const Command& command) {
      ProcessResult result;
      if (command[0] == "squeue") {
        result.out = rows;
      } else {
        result.exit_status = 1;
        result.err = command[0] + ": error: Invalid job id specified\n";
      }
      return result;
    };
  }
  JobStatus ask(const std::string& answer) {
    rows = answer;
    System system = interfaces();
    return read_job_states(system, {job}).front();
  }
};

}  // namespace

TEST_SUITE_BEGIN("schedulers/client/job_end");

TEST_CASE("an end that exit_status does not show is the same after the scheduler has forgotten the job") {
  struct Row {
    std::string answer, written;
    JobState state;
    int wait;
  };
  for (const Row& row : {Row{"8|TIMEOUT|n1|TimeLimit\n", "143\n", JobState::timed_out, 124},
                         Row{"8|TIMEOUT|n1|TimeLimit\n", "", JobState::timed_out, 124},
                         Row{"8|NODE_FAIL|n1|None\n", "1\n", JobState::node_failed, 5},
                         Row{"8|OUT_OF_MEMORY|n1|OutOfMemory\n", "137\n", JobState::out_of_memory, 137},
                         Row{"8|CANCELLED by 2000|n1|None\n", "143\n", JobState::cancelled, 143}}) {
    CAPTURE(row.answer + row.written);
    Forgetful slurm;
    if (!row.written.empty()) slurm.files.files[job_dir + "exit_status"] = row.written;
    const JobStatus first = slurm.ask(row.answer), later = slurm.ask("");
    CHECK(first.state == row.state);
    CHECK(later.state == row.state);
    CHECK(exit_status_of(first) == row.wait);
    CHECK(exit_status_of(later) == row.wait);
    CHECK(later.explained == first.explained);
    CHECK(later.hosts == "n1");
    // Another answer of a later query, such as that of the accounting, does not change it either.
    CHECK(slurm.ask("8|FAILED|n1|NonZeroExitCode\n").state == row.state);
  }
}

TEST_CASE("nothing is recorded of an end that exit_status shows, or of a job that is not over") {
  Forgetful slurm;
  slurm.ask("8|RUNNING|n1|None\n");
  slurm.files.files[job_dir + "exit_status"] = "0\n";
  CHECK(slurm.ask("8|COMPLETED|n1|None\n").state == JobState::completed);
  CHECK(slurm.files.written.empty());
}

TEST_CASE("a job that runs again has its earlier end no more") {
  Forgetful slurm;
  slurm.files.files[job_dir + "exit_status"] = "143\n";
  slurm.ask("8|TIMEOUT|n1|TimeLimit\n");
  CHECK(slurm.files.files.contains(job_dir + "end.json"));
  CHECK(slurm.ask("8|COMPLETING|n1|None\n").state == JobState::running);  // what is left of it
  CHECK(slurm.files.files.contains(job_dir + "end.json"));
  CHECK(slurm.ask("8|RUNNING|n1|None\n").state == JobState::running);
  CHECK_FALSE(slurm.files.files.contains(job_dir + "end.json"));
  slurm.files.files[job_dir + "exit_status"] = "0\n";
  CHECK(slurm.ask("").state == JobState::completed);
}

TEST_CASE("a program that had ended well as its time limit came is completed") {
  Forgetful slurm;
  const std::string well = "ddlrun: the job ended well; run directory /w/run.8\n";
  slurm.files.files[job_dir + "output.log"] = "step 9\n" + well + "slurmstepd: error: *** JOB 8 CANCELLED\n";
  slurm.files.files[job_dir + "exit_status"] = "0\n";
  for (const char* answer : {"8|TIMEOUT|n1|TimeLimit\n", ""}) {
    const JobStatus status = slurm.ask(answer);
    CHECK(status.state == JobState::completed);
    CHECK(exit_status_of(status) == 0);
    CHECK(
        render_end(slurm.job, status, "") ==
        "job 8 completed: its program had ended with status 0, all its work done, when its time limit came; "
        "the scheduler reports a time limit");
  }
}

TEST_CASE("a time limit may have cut the trap of a job whose program had ended well") {
  Forgetful slurm;
  slurm.files.files[job_dir + "output.log"] = "ddlrun: the job ended well; run directory /w/run.8\n";
  slurm.files.files[job_dir + "exit_status"] = "0\n";
  slurm.files.files[job_dir + "job.sh"] =
      "#!/bin/bash\ntrap ddl_on_EXIT EXIT\n  trap 'cp -r out $HOME' EXIT\n";
  const JobStatus status = slurm.ask("8|TIMEOUT|n1|TimeLimit\n");
  CHECK(status.state == JobState::timed_out);
  CHECK(status.explained.ends_with("and a trap of the job may not"));
}

TEST_CASE("the end of a later run between two queries replaces the recorded end") {
  Forgetful slurm;
  slurm.files.files[job_dir + "exit_status"] = "143\n";
  CHECK(slurm.ask("8|TIMEOUT|n1|TimeLimit\n").state == JobState::timed_out);
  slurm.files.files[job_dir + "exit_status"] = "0\n";
  CHECK(slurm.ask("8|COMPLETED|n1|None\n").state == JobState::completed);
  CHECK(slurm.ask("").state == JobState::completed);
}

TEST_CASE("a program that a signal stopped at its time limit is timed out, whatever its status is") {
  Forgetful slurm;
  slurm.files.files[job_dir + "output.log"] =
      "ddlrun: the job was stopped by SIGTERM; run directory /w/run.8\n";
  slurm.files.files[job_dir + "exit_status"] = "0\n";
  for (const char* answer : {"8|TIMEOUT|n1|TimeLimit\n", ""}) {
    const JobStatus status = slurm.ask(answer);
    CHECK(status.state == JobState::timed_out);
    CHECK(exit_status_of(status) == 124);
    CHECK(status.explained.starts_with("its program ended with status 0 when its time limit came"));
  }
}

TEST_CASE("the tasks of an array keep their ends, while Slurm forgets one after the other") {
  Forgetful slurm;
  slurm.files.files[job_dir + "ddlrun.yaml"] = "array: 1-2\n";
  slurm.files.files[job_dir + "exit_status.1"] = "143\n";
  slurm.files.files[job_dir + "exit_status.2"] = "0\n";
  const std::string first = "8_1|TIMEOUT|n1|TimeLimit\n", second = "8_2|COMPLETED|n2|None\n";
  for (const std::string& answer : {first + second, second, std::string()}) {
    CAPTURE(answer);
    const JobStatus status = slurm.ask(answer);
    CHECK(status.state == JobState::timed_out);
    CHECK(exit_status_of(status) == 124);
    REQUIRE(status.tasks.size() == 2);
    CHECK(status.tasks[0].id == "8_1");
    CHECK(status.tasks[0].state == JobState::timed_out);
    CHECK(status.tasks[1].state == JobState::completed);
    CHECK_FALSE(status.may_lack_tasks);
  }
}

TEST_CASE("the record is read as it was written; a damaged one is none") {
  JobStatus end;
  end.id = "8";
  end.state = JobState::timed_out;
  end.word = "TIMEOUT";
  end.exit_status = 143;
  end.run_seconds = 60;
  end.explained = "a \"quoted\" reason";
  const JobEnds ends = parse_job_ends(render_job_ends({{"8", end}}));
  REQUIRE(ends.contains("8"));
  CHECK(ends.at("8").state == JobState::timed_out);
  CHECK(ends.at("8").exit_status == 143);
  CHECK(ends.at("8").run_seconds == 60);
  CHECK(ends.at("8").explained == end.explained);
  for (const char* text : {"", "{", "[]", R"({"schema": "other/1", "ends": []})",
                           R"({"schema": "ddlrun.end/1", "ends": [{"id": 8}]})"})
    CHECK(parse_job_ends(text).empty());
}

TEST_SUITE_END();
