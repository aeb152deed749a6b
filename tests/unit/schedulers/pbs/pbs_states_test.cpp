// SPDX-License-Identifier: MIT
// Jobs that PBS removed before they started, and arrays that go on.
#include "schedulers/pbs/pbs_answers.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

JobStatus removed(const std::string& fields) {
  return pbs_status(parse_qstat_json(R"({"Jobs":{"7.s":{)" + fields + "}}}").value().at(0));
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/pbs/pbs_states");

// Which of its conditions a dependency missed, PBS does not say: the parent may still run.
TEST_CASE("a job that PBS removed by its dependency") {
  const JobStatus status =
      removed(R"("job_state":"F","substate":92,"depend":"afterok:2.s@s,afterany:4[].s@s")");
  CHECK(status.explained ==
        "PBS removed it before it started, by its dependency afterok:2.s@s,afterany:4[].s@s: that job ended "
        "otherwise, or PBS does not have it; ddlrun status 2.s '4[].s'");
  CHECK(status.reason.empty());
  CHECK(status.never_started());
  CHECK(removed(R"("job_state":"F","substate":92)").explained.find("depend") == std::string::npos);
  CHECK_FALSE(
      removed(R"("job_state":"F","substate":91,"Exit_status":271,"exec_host":"n1/0")").never_started());
}

TEST_CASE("an array whose parent goes on is not over") {
  const auto jobs = parse_qstat_json(R"({"Jobs":{"3[].s":{"job_state":"B","array":"True"},)"
                                     R"("3[0].s":{"job_state":"X","substate":92,"Exit_status":0}}})");
  const JobStatus status = status_of("3[].s", *jobs, pbs_status, "?");
  CHECK(status.state == JobState::running);
  CHECK_FALSE(status.exit_status);
}

// As OpenPBS 23.06.06 reported tasks that waited: while their array was being deleted, after that, and while
// it runs.
TEST_CASE("a task without a record of its own has neither the end nor the comment of its array") {
  const auto task = [](const std::string& fields) {
    return pbs_status(parse_qstat_json(R"({"Jobs":{"7[2].s":{)" + fields + "}}}").value().at(0));
  };
  JobStatus status = task(R"("job_state":"X","substate":70,"comment":"Subjob finished")");
  CHECK(status.state == JobState::running);
  CHECK(status.reason.empty());
  CHECK(status.explained.starts_with("PBS has no end of it"));
  CHECK(task(R"("job_state":"X","substate":70,"comment":"Subjob finished","Exit_status":1)").state ==
        JobState::running);
  status = task(R"("job_state":"F","substate":91,"comment":"Subjob finished","Exit_status":1)");
  CHECK(status.state == JobState::cancelled);
  CHECK(status.clear_reason() == "deleted before it started");
  CHECK(status.reason.empty());
  CHECK_FALSE(status.exit_status);
  CHECK(task(R"("job_state":"F","substate":92,"comment":"Subjob finished","Exit_status":0)").state ==
        JobState::completed);
  status = task(
      R"("job_state":"F","substate":91,"comment":"Subjob finished","Exit_status":271,"exec_host":"n/0")");
  CHECK(status.exit_status == 143);
  status = task(R"("job_state":"Q","substate":10,"comment":"Job Array Began at Fri Nov 27 at 20:56")");
  CHECK(status.clear_reason().empty());
  CHECK_FALSE(task(R"("job_state":"Q","comment":"Not Running: Queue not started.")").clear_reason().empty());
}

TEST_SUITE_END();
