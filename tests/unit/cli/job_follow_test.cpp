// SPDX-License-Identifier: MIT
// Logs that grow, are cut off or are not there yet; what a shell is told of an end; names of job folders.
#include "cli/job_end.hpp"
#include "cli/job_log.hpp"
#include "cli/job_submission.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

namespace ddlrun::cli {

using schedulers::JobState;
using schedulers::JobStatus;

TEST_CASE("a log is read once, from where it was, and anew where it was cut off") {
  tests::FakeSystem fake;
  System system = fake.doors();
  std::string text;
  const auto sink = [&](std::string_view bytes) { text += bytes; };
  JobLog log("/job/output.log");
  CHECK_FALSE(log.take(system, sink));
  CHECK_FALSE(log.seen());
  fake.files.files["/job/output.log"] = "one\ntw";
  CHECK(log.take(system, sink));
  CHECK_FALSE(log.take(system, sink));
  fake.files.files["/job/output.log"] += "o\n";
  CHECK(log.take(system, sink));
  CHECK(text == "one\ntwo\n");
  fake.files.files["/job/output.log"] = "new\n";
  CHECK(log.take(system, sink));
  CHECK(text == "one\ntwo\nnew\n");
  CHECK(fake.err.find("begun anew") != std::string::npos);
}

TEST_CASE("the status for the shell") {
  struct Row {
    JobState state;
    std::optional<int> exit_status;
    int signal;
    int told;
  };
  const Row rows[] = {
      {JobState::completed, 0, 0, 0},
      {JobState::failed, 3, 0, 3},
      {JobState::failed, 139, 11, 139},
      {JobState::failed, std::nullopt, 9, 137},
      {JobState::failed, 0, 0, 1},
      {JobState::failed, 512, 0, 1},
      {JobState::timed_out, 0, 0, 124},
      {JobState::cancelled, std::nullopt, 0, 143},
      {JobState::node_failed, std::nullopt, 0, 5},
      {JobState::out_of_memory, 0, 0, 137},
      {JobState::unknown, std::nullopt, 0, 4},
  };
  for (const Row& row : rows) {
    JobStatus status;
    status.state = row.state;
    status.exit_status = row.exit_status;
    status.signal = row.signal;
    CAPTURE(schedulers::name_of(row.state));
    CHECK(exit_status_of(status) == row.told);
  }
}

TEST_CASE("names of folders and logs") {
  CHECK(job_folder_name("/w", "train", std::chrono::system_clock::from_time_t(1700000000)) ==
        "/w/ddlrun-jobs/train-20231114-221320");
  schedulers::JobSpec job;
  job.working_folder = "/w";
  CHECK(log_of(job, {"/f"}, "7") == "/f/output.log");
  job.output = "logs/%j-100%%.txt";
  CHECK(log_of(job, {"/f"}, "7") == "/w/logs/7-100%.txt");
  job.output.clear();
  job.array.emplace();
  CHECK(log_of(job, {"/f"}, "7").empty());
  CHECK(log_of(job, {"/f"}, "7_3", "3") == "/f/output.3.log");
}

}  // namespace ddlrun::cli
