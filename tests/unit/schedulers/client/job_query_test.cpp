// SPDX-License-Identifier: MIT
#include "schedulers/client/job_query.hpp"

#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_status_json.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

struct Queried : tests::FakeSystem {
  JobRef job;
  Queried() {
    environment.variables["HOME"] = "/home/none";  // no history there
    job.id = "42";
    job.scheduler = SchedulerKind::slurm;
    job.dir = "/w/ddlrun-jobs/job";
  }
  // squeue and sacct do not answer.
  void make_unreachable() {
    processes.answer = [](const Command&) {
      ProcessResult result;
      result.exit_status = 1;
      result.err = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n";
      return result;
    };
  }
};

}  // namespace

TEST_SUITE_BEGIN("schedulers/client/job_query");

TEST_CASE("ids that could be an option or more than one word are refused") {
  Queried queried;
  System system = queried.interfaces();
  for (const char* id : {"", "-x", "all", "42 43", "42;rm", "4$2", "xyz"}) {
    CAPTURE(id);
    if (std::string(id) == "42;rm") continue;  // a federated id of Slurm: 42;cluster
    CHECK_THROWS_AS(find_jobs(system, {id}, SchedulerKind::slurm), Error);
  }
  CHECK(queried.processes.ran.empty());
}

TEST_CASE("a job that the history lacks is one of this machine's scheduler") {
  Queried queried;
  System system = queried.interfaces();
  const auto jobs = find_jobs(system, {"42", "43_1"}, SchedulerKind::slurm);
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].id == "42");
  CHECK(jobs[1].id == "43_1");
  CHECK(jobs[1].scheduler == SchedulerKind::slurm);
  CHECK_FALSE(jobs[0].submitted_here());
}

TEST_CASE("ids of runs: jobs of this machine's scheduler, where it can have given them") {
  Queried queried;
  System system = queried.interfaces();
  CHECK(find_foreign_jobs(system, {}).empty());
  CHECK(find_foreign_jobs(system, {"42"}).empty());  // no scheduler here
  queried.environment.variables["PATH"] = "/bin";
  const auto found = [&](const std::string& tool) {
    queried.files.files.clear();
    for (const char* name : {"sbatch", "qsub", "qstat"})
      if (name[0] == tool[0]) queried.files.files[std::string("/bin/") + name] = "";
    std::string ids;
    for (const JobRef& job :
         find_foreign_jobs(system, {"42", "9_1", "42.pbs01", "3[1].pbs01", "77@h1", "-x", "x"}))
      ids += job.id + (job.scheduler == SchedulerKind::slurm ? " slurm " : " pbs ");
    return ids;
  };
  queried.processes.answer = [](const Command&) {
    ProcessResult result;
    result.out = "pbs_version = 23.06.06\n";
    return result;
  };
  CHECK(found("sbatch") == "42 slurm 9_1 slurm ");
  CHECK(found("qsub") == "42.pbs01 pbs 3[1].pbs01 pbs ");
}

TEST_CASE("an unreachable scheduler: the job's own exit status counts, else the state last seen") {
  Queried queried;
  queried.make_unreachable();
  System system = queried.interfaces();
  queried.job.last.state = JobState::running;
  UnreachableSchedulers unreachable;
  auto states = read_job_states(system, {queried.job}, unreachable);
  REQUIRE(states.size() == 1);
  CHECK(states[0].state == JobState::running);
  CHECK(states[0].explained == "as last seen; its scheduler does not answer");
  CHECK(unreachable.contains(SchedulerKind::slurm));
  warn_of_unreachable(system, unreachable);
  CHECK(queried.err.find("warning: slurm: ") != std::string::npos);
  CHECK(queried.err.find("its jobs are shown as last seen") != std::string::npos);
  CHECK_THROWS_AS(read_job_states(system, {queried.job}), Error);
  queried.files.files["/w/ddlrun-jobs/job/exit_status"] = "7\n";
  unreachable.clear();
  states = read_job_states(system, {queried.job}, unreachable);
  CHECK(states[0].state == JobState::failed);
  CHECK(states[0].exit_status == 7);
}

// The line is pbs_mom's own: src/resmom/mom_main.c.
TEST_CASE("a PBS without history: the line of pbs_mom shows that the walltime was used up") {
  const std::string line = "=>> PBS: job killed: walltime 62 exceeded limit 60\n",
                    dir = "/w/ddlrun-jobs/job/";
  struct Row {
    std::string status, spool, output;
    JobState state;
  };
  for (const Row& row :
       {Row{"143\n", line, "begun\n", JobState::timed_out}, Row{"143\n", "", "begun\n", JobState::failed},
        Row{"0\n", line, "", JobState::completed}, Row{"", line, "begun\n", JobState::timed_out},
        Row{"", "", "begun\n", JobState::unknown},
        Row{"143\n", "=>> PBS: job killed: mem 9kb exceeded limit 8kb\n", "", JobState::failed}}) {
    Queried queried;
    queried.job.id = "42.node1";
    queried.job.scheduler = SchedulerKind::pbs;
    queried.job.output = dir + "output.log";
    if (!row.status.empty()) queried.files.files[dir + "exit_status"] = row.status;
    if (!row.spool.empty()) queried.files.files[dir + "scheduler.log"] = row.spool;
    queried.files.files[dir + "output.log"] = row.output;
    queried.processes.answer = [](const Command&) {
      ProcessResult result;
      result.exit_status = 153;
      result.err = "qstat: Unknown Job Id 42.node1\n";
      return result;
    };
    System system = queried.interfaces();
    CAPTURE(row.status + row.spool);
    UnreachableSchedulers unreachable;
    CHECK(read_job_states(system, {queried.job}, unreachable).front().state == row.state);
  }
}

// As OpenPBS 23.06.06 reported an array after its qdel: task 0 had exited 0, task 1 had run; the parent's
// Exit_status is on both.
TEST_CASE("tasks that ended before qdel of their array have the status that they wrote") {
  Queried queried;
  queried.job.id = "32[].node1";
  queried.job.scheduler = SchedulerKind::pbs;
  queried.files.files["/w/ddlrun-jobs/job/exit_status.0"] = "0\n";
  queried.processes.answer = [](const Command&) {
    ProcessResult result;
    result.out =
        R"({"Jobs":{"32[].node1":{"job_state":"F","substate":91,"Exit_status":1},)"
        R"("32[0].node1":{"job_state":"F","substate":91,"Exit_status":1,"comment":"Subjob finished"},)"
        R"("32[1].node1":{"job_state":"F","substate":91,"Exit_status":271,"exec_host":"node1/0*4"},)"
        R"("32[2].node1":{"job_state":"F","substate":91,"Exit_status":1,"comment":"Subjob finished"}}})";
    return result;
  };
  System system = queried.interfaces();
  UnreachableSchedulers unreachable;
  const auto states = read_job_states(system, {queried.job}, unreachable);
  REQUIRE(states.at(0).tasks.size() == 3);
  CHECK(states[0].state == JobState::cancelled);
  CHECK(states[0].id == "32[].node1");
  CHECK(states[0].tasks[0].state == JobState::completed);
  CHECK(states[0].tasks[0].exit_status == 0);
  CHECK(states[0].tasks[1].state == JobState::cancelled);
  CHECK(states[0].tasks[2].state == JobState::cancelled);  // it never ran
  CHECK(states[0].tasks[2].clear_reason() == "deleted before it started");
}

// For some seconds after qdel the array itself goes on, for a task that runs.
TEST_CASE("tasks that waited are cancelled as soon as their array is being deleted") {
  Queried queried;
  queried.job.id = "32[].node1";
  queried.job.scheduler = SchedulerKind::pbs;
  queried.files.files["/w/ddlrun-jobs/job/exit_status.0"] = "3\n";
  queried.processes.answer = [](const Command&) {
    ProcessResult result;
    result.out =
        R"({"Jobs":{"32[].node1":{"job_state":"B","substate":70},)"
        R"("32[0].node1":{"job_state":"X","substate":70,"comment":"Subjob finished"},)"
        R"("32[1].node1":{"job_state":"R","substate":42,"exec_host":"node1/0*4"},)"
        R"("32[2].node1":{"job_state":"X","substate":70,"Exit_status":1,"comment":"Subjob finished"}}})";
    return result;
  };
  System system = queried.interfaces();
  UnreachableSchedulers unreachable;
  const auto states = read_job_states(system, {queried.job}, unreachable);
  REQUIRE(states.at(0).tasks.size() == 3);
  CHECK(states[0].state == JobState::running);
  CHECK(states[0].tasks[0].exit_status == 3);
  CHECK(states[0].tasks[2].state == JobState::cancelled);
  CHECK(states[0].tasks[2].clear_reason() == "deleted before it started");
  CHECK_FALSE(states[0].tasks[2].exit_status);
  queried.job.id = "32[2].node1";  // asked for alone
  queried.job.task = "2";
  CHECK(read_job_states(system, {queried.job}, unreachable).at(0).state == JobState::cancelled);
}

// Nothing here was written by such a job, which ddlrun did not submit: its task has no end yet.
TEST_CASE("a task of a foreign array is ending while its array is being deleted") {
  Queried queried;
  queried.job = {};
  queried.job.id = "24[3].node1";
  queried.job.task = "3";
  queried.job.scheduler = SchedulerKind::pbs;
  queried.processes.answer = [](const Command&) {
    ProcessResult result;
    result.out =
        R"({"Jobs":{"24[3].node1":{"job_state":"X","substate":70,"queue":"normal","comment":"Subjob finished"}}})";
    return result;
  };
  System system = queried.interfaces();
  UnreachableSchedulers unreachable;
  const JobStatus status = read_job_states(system, {queried.job}, unreachable).at(0);
  CHECK_FALSE(is_over(status.state));
  CHECK(render_state(status).starts_with("ending, PBS has no end of it before that of its array"));
  CHECK(render_status_table({{queried.job, status}}).find("24[3].node1  ending ") != std::string::npos);
}

// A long list is not asked for again and again.
TEST_CASE("the nodes are listed for a job that waits, unless they are left out") {
  Queried queried;
  queried.job.id = "7.s";
  queried.job.scheduler = SchedulerKind::pbs;
  queried.processes.answer = [](const Command& command) {
    ProcessResult result;
    result.out =
        command[0] == "pbsnodes"
            ? R"({"nodes":{"a":{"resources_available":{"host":"a","ncpus":68}}}})"
            : R"({"Jobs":{"7.s":{"job_state":"Q","comment":"Not Running: Not enough free nodes available",)"
              R"("Resource_List":{"select":"1:ncpus=69"}}}})";
    return result;
  };
  System system = queried.interfaces();
  CHECK(read_job_states(system, {queried.job}).at(0).never);
  CHECK_FALSE(read_job_states(system, {queried.job}, NodeList::left_out).at(0).never);
}

TEST_CASE("the next job of a requeued one is in its directory") {
  Queried queried;
  System system = queried.interfaces();
  CHECK_FALSE(read_next_job(system, queried.job).has_value());
  queried.files.files["/w/ddlrun-jobs/job/next_job"] = "42\n";
  CHECK_FALSE(read_next_job(system, queried.job).has_value());  // itself
  JobRef foreign = queried.job;
  foreign.dir.clear();
  CHECK_FALSE(read_next_job(system, foreign).has_value());
}

TEST_SUITE_END();
