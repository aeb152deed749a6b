// SPDX-License-Identifier: MIT
// How Slurm's jobs stand, from several questions: squeue, scontrol, the accounting.
#include "base/text/error.hpp"
#include "schedulers/job/scheduler.hpp"
#include "tests/unit/schedulers/recorded.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;
using tests::answered;
using tests::FakeAsk;
using tests::recorded;
using tests::recorded_file;

namespace {

using S = JobState;
const auto slurm_scheduler = make_scheduler(SchedulerKind::slurm);

// The rows of a recorded `scontrol -o show job` that one job's question would show.
ProcessResult shown(const std::string& file, const std::string& id) {
  const std::string all = recorded_file("slurm/" + file);
  std::string out;
  for (const auto line : split(all, '\n')) {
    const std::string row(line);
    if (row.rfind("JobId=" + id + " ", 0) == 0 || row.find(" ArrayJobId=" + id + " ") != std::string::npos)
      out += row + "\n";
  }
  return answered(out);
}

const ProcessResult kNoAccounting = recorded("slurm/24_sacct_none.txt");
const ProcessResult kUnknown = recorded("slurm/28_scontrol_unknown.txt");

JobStatus ask_one(const JobId& id, const FakeAsk& ask) {
  return slurm_scheduler->read_states(std::vector<JobId>{id}, ask).at(id);
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/slurm/slurm_states");

TEST_CASE("jobs that wait or run cost one question, however many") {
  const FakeAsk ask{{{"squeue --me", recorded("slurm/20_squeue_early.txt")}}};
  const std::vector<JobId> ids = {"3", "4", "5", "9", "10", "6", "6_5"};
  const auto states = slurm_scheduler->read_states(ids, ask);
  CHECK(ask.asked->size() == 1);
  CHECK(states.size() == ids.size());
  CHECK(states.at("3").state == S::running);
  CHECK(states.at("4").state == S::held);
  CHECK(states.at("6").state == S::queued);  // two tasks are over, four wait
  CHECK(states.at("6").tasks.size() == 6);
  CHECK_FALSE(states.at("6").exit_status);
  CHECK(states.at("6_5").reason == "JobArrayTaskLimit");
}

TEST_CASE("the name of a job and the path of its log are asked of scontrol") {
  const FakeAsk ask{{{"scontrol -o show job 3", recorded("slurm/21_scontrol_early.txt")}}};
  const JobStatus status = make_scheduler(SchedulerKind::slurm)->read_details("3", ask);
  CHECK(status.id == "3");
  CHECK(status.name == "wrap");
  CHECK(status.output == "/home/ddl/slurm-3.out");
  CHECK(status.error_output.empty());
}

TEST_CASE("a job that waits for a time is explained with the time, of today without the date") {
  struct Row {
    std::string id, explained;
  };
  const Row rows[] = {
      {"12", "it starts at 11:58:00 at the earliest, which is its begin time"},
      {"13",
       "it starts again at 10:58:11 at the earliest: Slurm keeps a requeued job back, by default for two "
       "minutes"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.id);
    FakeAsk ask{{{"squeue --me", recorded("slurm/24_squeue_mid.txt")},
                 {"scontrol -o show job " + row.id, shown("24_scontrol_mid.txt", row.id)}}};
    const JobStatus status = ask_one(row.id, ask);
    CHECK(status.state == S::queued);
    CHECK(status.explained == row.explained);
  }
  const FakeAsk busy{{{"squeue --me", recorded("slurm/24_squeue_mid.txt")},
                      {"scontrol", answered("slurm_load_jobs error: Unspecified error", 1)}}};
  CHECK(ask_one("13", busy).explained.find("put back a moment ago") != std::string::npos);
}

TEST_CASE("the date of a begin time is shown unless it is the day of the submission") {
  const std::string row =
      "JobId=5 JobName=a UserId=u(1) JobState=PENDING Reason=BeginTime Dependency=(null) Restarts=2 "
      "ExitCode=0:0 RunTime=00:00:00 SubmitTime=2026-11-21T23:59:05 EligibleTime=2026-11-22T00:01:06 "
      "Partition=p NodeList=\n";
  const auto ask = [&](const std::string& text) {
    return ask_one("5", FakeAsk{{{"squeue --me", answered("0:00;p|5|PENDING||BeginTime\n")},
                                 {"scontrol -o show job 5", answered(text)}}})
        .explained;
  };
  CHECK(ask(row).starts_with("it starts again at 2026-11-22 00:01:06 at the earliest: "));
  std::string unknown = row;
  unknown.replace(unknown.find("2026-11-22T00:01:06"), 19, "Unknown");
  CHECK(ask(unknown).find("put back a moment ago") != std::string::npos);
}

TEST_CASE("what ended is asked of scontrol") {
  struct Row {
    std::string id;
    JobState state;
    std::optional<int> exit_status;
    int signal;
  };
  const Row rows[] = {{"1", S::failed, 7, 0},      {"2", S::failed, 137, 9}, {"8", S::cancelled, 143, 15},
                      {"11", S::cancelled, {}, 0}, {"6", S::failed, 143, 0}, {"6_1", S::failed, 1, 0}};
  for (const Row& row : rows) {
    CAPTURE(row.id);
    const std::string job = row.id.substr(0, 1) == "6" ? "6" : row.id;
    const FakeAsk ask{{{"squeue --me", recorded("slurm/24_squeue_mid.txt")},
                       {"sacct", kNoAccounting},
                       {"scontrol -o show job " + row.id, shown("24_scontrol_mid.txt", job)}}};
    const JobStatus status = ask_one(row.id, ask);
    CHECK(name_of(status.state) == name_of(row.state));
    CHECK(status.exit_status.value_or(-1) == row.exit_status.value_or(-1));
    CHECK(status.signal == row.signal);
    CHECK(ask.asked->size() >= 2);
    CHECK(ask.asked->size() <= 3);
  }
}

TEST_CASE("what the controller has forgotten is asked of the accounting, once for all") {
  const std::string accounted =
      "3|CANCELLED by 2000|0:0|minsky[1-4]\n7|FAILED|1:0|None assigned\n"
      "5_0|COMPLETED|0:0|minsky1\n5_5|FAILED|5:0|minsky1\n";
  const FakeAsk ask{{{"squeue --me", answered("")},
                     {"sacct -X -n -P -j 3,5,7,99", answered(accounted)},
                     {"scontrol -o show job 99", kUnknown}}};
  const auto states = slurm_scheduler->read_states(std::vector<JobId>{"3", "5", "7", "99"}, ask);
  CHECK(ask.asked->size() == 3);
  CHECK(states.at("3").state == S::cancelled);
  CHECK(states.at("3").word == "CANCELLED by 2000");
  CHECK(states.at("5").state == S::failed);
  CHECK(states.at("5").exit_status == 5);
  CHECK(states.at("7").state == S::failed);
  CHECK(states.at("99").state == S::unknown);
  CHECK_FALSE(states.at("99").explained.empty());
}

TEST_CASE("without accounting a forgotten job is unknown, silently") {
  const FakeAsk ask{{{"squeue --me", answered("")}, {"sacct", kNoAccounting}, {"scontrol", kUnknown}}};
  CHECK(ask_one("3", ask).state == S::unknown);
}

TEST_CASE("accounting that lags behind does not overrule the controller") {
  const FakeAsk ask{{{"squeue --me", answered("")},
                     {"sacct", answered("3|PENDING|0:0|\n")},
                     {"scontrol", shown("24_scontrol_mid.txt", "3")}}};
  CHECK(ask_one("3", ask).state == S::running);  // of another user: not among --me
  const FakeAsk runaway{
      {{"squeue --me", answered("")}, {"sacct", answered("3|RUNNING|0:0|n1\n")}, {"scontrol", kUnknown}}};
  CHECK(ask_one("3", runaway).state == S::unknown);
}

TEST_CASE("tasks of an array that ended early come from the accounting") {
  const FakeAsk ask{{{"squeue --me", answered("5_4|COMPLETED|n1|None\n5_5|COMPLETED|n1|None\n")},
                     {"sacct", answered("5_3|FAILED|3:0|n1\n5_4|COMPLETED|0:0|n1\n")},
                     {"scontrol", kUnknown}}};
  const JobStatus status = ask_one("5", ask);
  CHECK(status.state == S::failed);
  CHECK(status.exit_status == 3);
  CHECK(status.tasks.size() == 3);
  CHECK(status.explained.empty());
  // Without accounting no one can tell whether these were all.
  const FakeAsk forgetful{{{"squeue --me", answered("5_4|COMPLETED|n1|None\n5_5|COMPLETED|n1|None\n")},
                           {"sacct", kNoAccounting},
                           {"scontrol", kUnknown}}};
  CHECK(ask_one("5", forgetful).explained.find("has 2 tasks") != std::string::npos);
  CHECK(ask_one("5", forgetful).may_lack_tasks);
  CHECK_FALSE(status.may_lack_tasks);
}

TEST_CASE("a controller that is down is no finding about a job") {
  const FakeAsk down{{{"squeue", recorded("slurm/11_ctld_down_squeue.txt")}}};
  try {
    ask_one("3", down);
    FAIL("an answer from nowhere");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unreachable);
    CHECK(error.message().what.find("Unable to contact slurm controller") != std::string::npos);
  }
  // It goes down between two questions.
  const FakeAsk half{{{"squeue", recorded("slurm/24_squeue_mid.txt")},
                      {"scontrol", recorded("slurm/11_ctld_down_squeue.txt")}}};
  CHECK_THROWS_AS(ask_one("1", half), Error);
  ProcessResult absent;
  absent.start_error = "No such file or directory";
  try {
    ask_one("3", FakeAsk{{{"squeue", absent}}});
    FAIL("no squeue, yet an answer");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::request);
  }
}

TEST_CASE("an old squeue without --me lists all jobs") {
  const FakeAsk ask{{{"squeue --me", answered("", 1, "squeue: unrecognized option '--me'\n")},
                     {"squeue -h", recorded("slurm/20_squeue_early.txt")}}};
  CHECK(ask_one("3", ask).state == S::running);
}

TEST_CASE("a job of another cluster is queried there") {
  const FakeAsk ask{{{"squeue -M west --me", answered("CLUSTER: west\n3|RUNNING|w1|None\n")},
                     {"squeue --me", answered("3|PENDING||Priority\n")}}};
  const auto states = slurm_scheduler->read_states(std::vector<JobId>{"3;west", "3"}, ask);
  CHECK(states.at("3;west").state == S::running);
  CHECK(states.at("3;west").id == "3;west");
  CHECK(states.at("3").state == S::queued);
  CHECK(slurm_scheduler->cancel_command("3;west") == Command{"scancel", "-M", "west", "-v", "3"});
}

TEST_CASE("recorded cancellations") {
  CHECK(slurm_scheduler->cancel_command("8") == Command{"scancel", "-v", "8"});
  const auto said = [](const char* file) {
    return slurm_scheduler->read_cancellation("8", recorded("slurm/" + std::string(file) + ".txt"));
  };
  CHECK(said("22_scancel_v").find("being cancelled") != std::string::npos);
  CHECK(said("22_scancel_v_array").find("being cancelled") != std::string::npos);
  CHECK(said("22_scancel_v_pending").find("being cancelled") != std::string::npos);
  CHECK(said("22_scancel_v_over").find("already over") != std::string::npos);
  CHECK(said("22_scancel_v_unknown").find("does not have") != std::string::npos);
  CHECK_THROWS_AS(
      slurm_scheduler->read_cancellation(
          "8", answered("", 1, "scancel: error: Kill job error on job id 8: Access/permission denied\n")),
      Error);
}

TEST_SUITE_END();
