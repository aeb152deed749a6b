// SPDX-License-Identifier: MIT
// Logs that grow, are cut off or are not there yet; what a shell is reported an end; names of job
// directories.
#include "schedulers/client/job_follow.hpp"

#include "base/text/error.hpp"
#include "schedulers/client/job_directory.hpp"
#include "schedulers/client/job_log.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_status_json.hpp"
#include "schedulers/client/job_submission.hpp"
#include "schedulers/client/submitted_job.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>
#include <signal.h>

namespace ddlrun::schedulers {

using schedulers::JobState;
using schedulers::JobStatus;

TEST_SUITE_BEGIN("schedulers/client/job_follow");

TEST_CASE("a log is read once, from where it was, and anew where it was cut off") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
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
  CHECK(fake.err.find("starts over") != std::string::npos);
}

TEST_CASE("the status for the shell") {
  struct Row {
    JobState state;
    std::optional<int> exit_status;
    int signal;
    int reported;
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
      {JobState::unknown, std::nullopt, 0, 3},
      {JobState::queued, std::nullopt, 0, 4},  // can never run, and is left there
  };
  for (const Row& row : rows) {
    JobStatus status;
    status.state = row.state;
    status.exit_status = row.exit_status;
    status.signal = row.signal;
    CAPTURE(schedulers::name_of(row.state));
    CHECK(exit_status_of(status) == row.reported);
  }
}

namespace {

// Slurm as a table of answers: squeue reports `row`, no one else knows anything.
void answer_squeue(tests::FakeSystem& fake, const std::function<std::string()>& row) {
  fake.processes.answer = [row](const Command& command) {
    ProcessResult result;
    if (command[0] == "squeue") {
      result.out = row();
    } else {
      result.exit_status = 1;
      result.err = command[0] + ": error: Invalid job id specified\n";
    }
    return result;
  };
}

JobRef slurm_job() {
  JobRef job;
  job.id = "9";
  job.scheduler = schedulers::SchedulerKind::slurm;
  return job;
}

}  // namespace

TEST_CASE("a job that can never run is left after the second look, not at first sight") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  int pauses = 0;
  fake.clock.on_pause = [&](std::chrono::milliseconds) {
    if (++pauses == 1) fake.clock.time -= std::chrono::hours(5);  // the machine's clock is set back
    return pauses > 10000 ? SIGINT : 0;
  };
  FollowOptions options;
  int looks = 0;
  answer_squeue(fake, [&] {
    ++looks;
    return "9|PENDING||" + std::string(looks == 2 ? "Resources" : "PartitionTimeLimit") + "\n";
  });
  CHECK(follow_jobs(system, {slurm_job()}, options) == 4);
  CHECK(looks == 4);  // never, resources, never, never
  CHECK(fake.err.find("above the limit of the partition") != std::string::npos);
  CHECK(fake.err.find("left in the queue") != std::string::npos);
  CHECK(fake.err.find("try: ddlrun cancel 9; then a shorter --walltime") != std::string::npos);
}

TEST_CASE("a job that waits its turn is reported once, whichever of the two reasons Slurm has") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  int looks = 0;
  answer_squeue(fake, [&] {
    ++looks;
    if (looks > 6) return std::string("9|COMPLETED|n1|None\n");
    return "9|PENDING||" + std::string(looks % 2 == 1 ? "Resources" : "Priority") + "\n";
  });
  follow_jobs(system, {slurm_job()}, {});
  CHECK(fake.err.find("it waits for nodes to become free") != std::string::npos);
  CHECK(fake.err.find("job 9: queued") == fake.err.rfind("job 9: queued"));
  CHECK(fake.err.find("first in line") == std::string::npos);
}

TEST_CASE("how to follow the tasks of an array is printed once, while the array runs") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  int looks = 0;
  answer_squeue(fake, [&] {
    ++looks;
    const std::string first = looks < 3 ? "RUNNING" : "COMPLETED", second = looks < 2 ? "PENDING" : first;
    return "9_1|" + first + "|n1|None\n9_2|" + second + "|n2|None\n";
  });
  follow_jobs(system, {slurm_job()}, {});
  const std::string hint = "its tasks have logs of their own: ddlrun logs -f 9_1; of all: ddlrun logs 9\n";
  CHECK(fake.err.find(hint) != std::string::npos);
  CHECK(fake.err.find(hint) == fake.err.rfind(hint));
  fake.err.clear();
  looks = 0;
  FollowOptions wait;
  wait.log = false;
  follow_jobs(system, {slurm_job()}, wait);
  CHECK(fake.err.find("its tasks have logs") == std::string::npos);
}

TEST_CASE("a job that no one knows ends the waiting with 3, and something to type that is there") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  answer_squeue(fake, [] { return std::string(); });
  CHECK(follow_jobs(system, {slurm_job()}, {}) == 3);
  CHECK(fake.err.find("unknown to the scheduler") != std::string::npos);
  CHECK(fake.err.find("try: ddlrun jobs") != std::string::npos);
  CHECK(fake.err.find("its log") == std::string::npos);
}

namespace {

// squeue as of Slurm 22.05 without a slurmctld.
void leave_unanswered(tests::FakeSystem& fake, int& questions) {
  fake.processes.answer = [&questions](const Command& command) {
    ProcessResult result;
    questions += command[0] == "squeue";
    result.exit_status = 1;
    result.err = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n";
    return result;
  };
}

}  // namespace

TEST_CASE("the first answer about a job without a record comes within 60 s, or the waiting ends with 5") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  int questions = 0;
  leave_unanswered(fake, questions);
  const auto begin = fake.clock.steady();
  std::optional<Error> error;
  fake.clock.on_pause = [&](std::chrono::milliseconds) {
    return fake.clock.steady() - begin > std::chrono::hours(1) ? SIGINT : 0;
  };
  try {
    follow_jobs(system, {slurm_job()}, {});
  } catch (const Error& thrown) {
    error = thrown;
  }
  REQUIRE(error);
  CHECK(exit_code(error->kind()) == 5);
  CHECK(error->message().what.starts_with("no answer for 60 s about a job that ddlrun has no record of: "));
  CHECK(error->message().where == "squeue");
  CHECK(!error->message().hint.empty());
  CHECK(fake.clock.steady() - begin >= std::chrono::seconds(60));
  CHECK(fake.clock.steady() - begin < std::chrono::seconds(62));
  CHECK(questions > 2);
  CHECK(fake.err.find("the job continues") == std::string::npos);
}

TEST_CASE("a job of this user's ddlrun is waited for while its scheduler is silent") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  int questions = 0;
  leave_unanswered(fake, questions);
  const auto begin = fake.clock.steady();
  fake.clock.on_pause = [&](std::chrono::milliseconds) {
    return fake.clock.steady() - begin > std::chrono::hours(1) ? SIGINT : 0;
  };
  JobRef known = slurm_job();
  known.dir = "/job";
  CHECK(follow_jobs(system, {known}, {}) == 128 + SIGINT);
  CHECK(fake.err.find("the job continues; ddlrun tries again") != std::string::npos);
}

TEST_CASE("the end in words: nothing twice, no remedy that the job had, no stale reason") {
  struct Row {
    const char *squeue, *settings;
    int status;
    const char *said, *unsaid;
  };
  const Row rows[] = {
      {"9|TIMEOUT|n1|TimeLimit\n", "walltime: 1m\n", 124, "--signal USR1@120", "request more"},
      {"9|TIMEOUT|n1|TimeLimit\n", "signal: USR1@60\n", 124, "--requeue yes", "--signal"},
      {"9|TIMEOUT|n1|TimeLimit\n", "signal: USR1@60\nrequeue: yes\n", 124, "try: a longer --walltime\n",
       "--requeue"},
      {"9|TIMEOUT|n1|TimeLimit\n", "requeue: 20\n", 124,
       "try: --signal USR1@120, without which requeue does not start it again at its time limit; or ddlrun "
       "resubmit 9",
       "--requeue yes"},
      {"9|CANCELLED||PartitionTimeLimit\n", "", 143, "was cancelled", "PartitionTimeLimit"},
      {"9|OUT_OF_MEMORY|n1|OutOfMemory\n", "", 137, "try: a larger --memory", "request more"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.squeue);
    CAPTURE(row.settings);
    tests::FakeSystem fake;
    System system = fake.interfaces();
    JobRef job = slurm_job();
    job.dir = "/job";
    fake.files.files["/job/ddlrun.yaml"] = row.settings;
    answer_squeue(fake, [&] { return std::string(row.squeue); });
    CHECK(follow_jobs(system, {job}, {}) == row.status);
    CAPTURE(fake.err);
    CHECK(fake.err.find(row.said) != std::string::npos);
    CHECK(fake.err.find(row.unsaid) == std::string::npos);
  }
}

TEST_CASE("a warning signal that the program does not handle is named as the end") {
  struct Row {
    const char *settings, *status;
    bool is_named;
  };
  for (const Row& row : {Row{"signal: USR1@30\n", "138", true}, Row{"signal: USR1@30\n", "140", false},
                         Row{"walltime: 1m\n", "138", false}, Row{"signal: USR1@30\n", "1", false}}) {
    CAPTURE(row.settings);
    CAPTURE(row.status);
    tests::FakeSystem fake;
    System system = fake.interfaces();
    JobRef job = slurm_job();
    job.dir = "/job";
    fake.files.files["/job/ddlrun.yaml"] = row.settings;
    fake.files.files[job.files().exit_status()] = row.status;
    answer_squeue(fake, [&] { return std::string("9|FAILED|n1|NonZeroExitCode\n"); });
    follow_jobs(system, {job}, {});
    CAPTURE(fake.err);
    CHECK((fake.err.find("try: handle USR1 in the program (save, then exit 75), or omit --signal USR1@30") !=
           std::string::npos) == row.is_named);
  }
}

TEST_CASE("the tasks of an array, by its settings, and what Slurm has not forgotten") {
  struct Row {
    const char* array;
    std::vector<std::uint64_t> tasks;
  };
  const Row rows[] = {{"1-4", {1, 2, 3, 4}},
                      {"0-6:2%2", {0, 2, 4, 6}},
                      {"0,2,5-9:2%2", {0, 2, 5, 7, 9}},
                      {"3", {3}},
                      {"", {}},
                      {"x", {}}};
  tests::FakeSystem fake;
  System system = fake.interfaces();
  JobRef job = slurm_job();
  job.dir = "/job";
  for (const Row& row : rows) {
    CAPTURE(row.array);
    fake.files.files["/job/ddlrun.yaml"] = "array: \"" + std::string(row.array) + "\"\n";
    CHECK(submitted_tasks(system, job) == row.tasks);
  }
  CHECK(task_id(job, 1) == "9_1");
  job.id = "3[].server";
  CHECK(task_id(job, 1) == "3[1].server");
  job.id = "9";
  answer_squeue(fake, [] { return std::string("9_1|COMPLETED|n1|None\n9_2|COMPLETED|n1|None\n"); });
  for (const auto& [array, reported] : {std::pair{"1-2", false}, std::pair{"1-3", true}}) {
    CAPTURE(array);
    fake.files.files["/job/ddlrun.yaml"] = "array: \"" + std::string(array) + "\"\n";
    CHECK(read_job_states(system, {job})[0].explained.empty() != reported);
  }
}

TEST_CASE("tables and JSON hold what wait gives") {
  JobStatus status;
  status.state = JobState::timed_out;
  const std::string table = render_status_table({{slurm_job(), status}});
  CHECK(table.find("124") != std::string::npos);
  CHECK(render_status_json({{slurm_job(), status}}).find("\"wait_status\": 124") != std::string::npos);
  const std::string jobs = render_jobs_table({{slurm_job(), status}});
  CHECK(jobs.substr(0, jobs.find("NAME")) == table.substr(0, table.find("NAME")));
  CHECK(jobs.substr(0, 3) == "JOB");
}

TEST_CASE("names of directories and logs") {
  tests::FakeSystem fake;
  fake.clock.time =
      std::chrono::system_clock::from_time_t(1700000000);  // 2023-11-14 22:13:20 UTC, says date -u
  fake.environment.variables["HOME"] = "/home/me";
  System system = fake.interfaces();
  schedulers::JobSpec job;
  job.name = "train";
  job.scheduler = schedulers::SchedulerKind::slurm;
  job.workdir = "/w";
  CHECK(find_job_dir(system, job) == "/w/ddlrun-jobs/train-20231114-221320");
  // A directive takes no blank: the files go where there is none.
  job.workdir = "/my data";
  CHECK(find_job_dir(system, job).starts_with("/home/me/"));
  job.scheduler = schedulers::SchedulerKind::local;
  CHECK(find_job_dir(system, job) == "/my data/ddlrun-jobs/train-20231114-221320");
  // Another user's directory could change the script on its way to the scheduler.
  fake.files.foreign["/my data/ddlrun-jobs"] = "it belongs to user 7";
  CHECK(find_job_dir(system, job) == "/home/me/.local/state/ddlrun/jobs/train-20231114-221320");
  fake.environment.variables["HOME"] = "/home/a b";
  job.scheduler = schedulers::SchedulerKind::slurm;
  CHECK_THROWS_AS(find_job_dir(system, job), Error);
  job.workdir = "/w";
  CHECK(log_of(job, {"/f"}, "7") == "/f/output.log");
  job.output = "logs/%j-100%%.txt";
  CHECK(log_of(job, {"/f"}, "7") == "/w/logs/7-100%.txt");
  job.output.clear();
  job.array.emplace();
  CHECK(log_of(job, {"/f"}, "7").empty());
  CHECK(log_of(job, {"/f"}, "7_3", "3") == "/f/output.3.log");
}

}  // namespace ddlrun::schedulers

TEST_SUITE_END();
