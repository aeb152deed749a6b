// SPDX-License-Identifier: MIT
#include "schedulers/client/job_query.hpp"

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
