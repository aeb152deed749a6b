// SPDX-License-Identifier: MIT
#include "schedulers/job/job_state.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::schedulers;

namespace {

JobStatus task(JobState state, std::optional<int> exit_status = {}) {
  JobStatus status;
  status.state = state;
  status.exit_status = exit_status;
  return status;
}

constexpr JobState kAll[] = {JobState::queued,    JobState::held,        JobState::running,
                             JobState::completed, JobState::failed,      JobState::cancelled,
                             JobState::timed_out, JobState::node_failed, JobState::out_of_memory,
                             JobState::unknown};

}  // namespace

TEST_SUITE_BEGIN("schedulers/job/job_state");

TEST_CASE("every state has a name of its own, which is read back") {
  for (const JobState state : kAll) CHECK(parse_job_state(name_of(state)) == state);
  CHECK_FALSE(parse_job_state("RUNNING"));
  CHECK_FALSE(parse_job_state(""));
}

TEST_CASE("what is over") {
  for (const JobState state : {JobState::queued, JobState::held, JobState::running, JobState::unknown})
    CHECK_FALSE(is_over(state));
  int over = 0;
  for (const JobState state : kAll) over += is_over(state) ? 1 : 0;
  CHECK(over == 6);
}

TEST_CASE("an array's state is the join of its tasks") {
  using S = JobState;
  struct Row {
    std::vector<JobStatus> tasks;
    JobState state;
    std::optional<int> exit_status;
  };
  const Row rows[] = {
      {{}, S::unknown, {}},
      {{task(S::completed, 0), task(S::completed, 0)}, S::completed, 0},
      {{task(S::completed, 0), task(S::running), task(S::failed, 3)}, S::running, {}},
      {{task(S::completed, 0), task(S::queued), task(S::failed, 3)}, S::queued, {}},
      {{task(S::held), task(S::queued)}, S::queued, {}},
      {{task(S::held), task(S::completed, 0)}, S::held, {}},
      {{task(S::failed, 3), task(S::completed, 0), task(S::failed, 5)}, S::failed, 5},
      {{task(S::cancelled), task(S::completed, 0)}, S::cancelled, 0},
      {{task(S::cancelled, 143), task(S::failed, 1)}, S::failed, 143},
      {{task(S::failed, 1), task(S::timed_out)}, S::timed_out, 1},
      {{task(S::node_failed), task(S::out_of_memory), task(S::timed_out)}, S::node_failed, {}},
      {{task(S::unknown), task(S::completed, 0)}, S::completed, 0},
  };
  for (const Row& row : rows) {
    const JobStatus joined = join_tasks("5", row.tasks);
    CAPTURE(name_of(row.state));
    CHECK(joined.id == "5");
    CHECK(name_of(joined.state) == name_of(row.state));
    CHECK(joined.exit_status == row.exit_status);
    CHECK(joined.tasks.size() == row.tasks.size());
  }
}

TEST_CASE("an array has the hosts of all its tasks, and the time of the longest") {
  std::vector<JobStatus> tasks{task(JobState::completed, 0), task(JobState::running), task(JobState::queued)};
  tasks[0].hosts = "node1,node2";
  tasks[0].run_seconds = 70;
  tasks[1].hosts = "node[2-3]";
  tasks[1].run_seconds = 9;
  const JobStatus joined = join_tasks("5", tasks);
  CHECK(joined.hosts == "node[1-3]");
  CHECK(joined.run_seconds == 70);
  tasks[1].hosts = "not [a list";
  CHECK(join_tasks("5", tasks).hosts == "not [a list");
  CHECK(join_tasks("5", {tasks[2]}).hosts.empty());
  CHECK_FALSE(join_tasks("5", {tasks[2]}).run_seconds.has_value());
}

TEST_CASE("an array can never go on where none of its open tasks can") {
  JobStatus stuck = task(JobState::queued);
  stuck.never = true;
  stuck.remedy = "less";
  struct Row {
    std::vector<JobStatus> tasks;
    bool never;
  };
  const Row rows[] = {{{stuck, stuck}, true},
                      {{stuck, task(JobState::completed, 0)}, true},
                      {{stuck, task(JobState::queued)}, false},
                      {{stuck, task(JobState::running)}, false},
                      {{task(JobState::failed, 1)}, false},
                      {{}, false}};
  for (const Row& row : rows) {
    const JobStatus joined = join_tasks("5", row.tasks);
    CHECK(joined.never == row.never);
    CHECK(joined.remedy == (row.never ? "less" : ""));
  }
}

TEST_SUITE_END();
