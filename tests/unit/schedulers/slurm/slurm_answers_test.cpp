// SPDX-License-Identifier: MIT
// Slurm's text as it was recorded: ids, rows, exit codes, refusals.
#include "schedulers/slurm/slurm_answers.hpp"

#include "base/text/error.hpp"
#include "schedulers/job/scheduler.hpp"
#include "tests/unit/schedulers/recorded.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;
using tests::answered;
using tests::recorded;

namespace {

using S = JobState;

const JobStatus* by_id(const std::vector<JobStatus>& statuses, const std::string& id) {
  for (const JobStatus& status : statuses)
    if (status.id == id) return &status;
  return nullptr;
}

struct Expected {
  std::string id;
  JobState state;
  std::optional<int> exit_status;
  int signal = 0;
  std::string reason = "";
  std::string hosts = "";
};

void check_rows(const std::vector<JobStatus>& statuses, const std::vector<Expected>& rows) {
  for (const Expected& row : rows) {
    CAPTURE(row.id);
    const JobStatus* status = by_id(statuses, row.id);
    REQUIRE(status != nullptr);
    CHECK(name_of(status->state) == name_of(row.state));
    CHECK(status->exit_status == row.exit_status);
    CHECK(status->signal == row.signal);
    CHECK(status->reason == row.reason);
    CHECK(status->hosts == row.hosts);
  }
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/slurm/slurm_answers");

TEST_CASE("the id that sbatch prints") {
  CHECK(parse_sbatch(recorded("slurm/02_sbatch.txt").out) == "3");
  CHECK(parse_sbatch(recorded("slurm/02_sbatch_parsable.txt").out) == "4");
  CHECK(parse_sbatch(recorded("slurm/04_sbatch_N9.txt").out) == "6");
  CHECK(parse_sbatch(recorded("slurm/04_sbatch_array.txt").out) == "5");
  CHECK(parse_sbatch("4711;cluster-2\n") == "4711;cluster-2");
  CHECK(parse_sbatch("Submitted batch job 12 on cluster west\n") == "12");
  CHECK(parse_sbatch("welcome, you have 4 hours left\n17\n") == "17");
  for (const char* nothing : {"", "\n", "4;", "4;a b", "4 5", "-4", "4.batch", "job 4"})
    CHECK_FALSE(parse_sbatch(nothing));
}

TEST_CASE("a range of waiting tasks is reported one by one") {
  using Ids = std::vector<JobId>;
  CHECK(expand_tasks("15_[2-5%2]") == Ids{"15_2", "15_3", "15_4", "15_5"});
  CHECK(expand_tasks("15_[0,4,8-9]") == Ids{"15_0", "15_4", "15_8", "15_9"});
  CHECK(expand_tasks("15_3") == Ids{"15_3"});
  CHECK(expand_tasks("15") == Ids{"15"});
  CHECK(expand_tasks("15_[0-10:2]") == Ids{"15_[0-10:2]"});
  CHECK(expand_tasks("15_[0,2,4,...]") == Ids{"15_[0,2,4,...]"});
  CHECK(expand_tasks("15_[0-4000000]").size() == 1);
}

TEST_CASE("recorded squeue: what waits, runs and ended") {
  const auto early = parse_squeue(recorded("slurm/20_squeue_early.txt").out);
  CHECK(early.size() == 18);
  check_rows(early, {{"1", S::failed, {}, 0, "NonZeroExitCode", "node1"},
                     {"3", S::running, {}, 0, "", "node1"},
                     {"4", S::held, {}, 0, "JobHeldUser"},
                     {"5", S::queued, {}, 0, "DependencyNeverSatisfied"},
                     {"6_0", S::completed, {}, 0, "", "node1"},
                     {"6_5", S::queued, {}, 0, "JobArrayTaskLimit"},
                     {"9", S::queued, {}, 0, "PartitionTimeLimit"},
                     {"10", S::queued, {}, 0, "PartitionNodeLimit"},
                     {"12", S::queued, {}, 0, "BeginTime"}});
  // Without -r the waiting tasks share a row.
  const auto folded = parse_squeue(recorded("slurm/20_squeue_all_early.txt").out);
  CHECK(folded.size() == early.size());
  check_rows(folded, {{"6_2", S::queued, {}, 0, "JobArrayTaskLimit"}});
  const auto late = parse_squeue(recorded("slurm/27_squeue_node.txt").out);
  check_rows(
      late,
      {{"3", S::timed_out, {}, 0, "TimeLimit", "node1"},
       {"24",
        S::queued,
        {},
        0,
        "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"}});
  for (const JobStatus& status : late)
    if (!is_over(status.state) && status.state != S::running) {
      CAPTURE(status.id);
      CHECK_FALSE(status.explained.empty());
    }
  CHECK(parse_squeue(recorded("slurm/10_unknown_squeue.txt").out).empty());
  const auto rows =
      parse_squeue("1-02:03:04;normal|7|RUNNING|n[1-2]|a|b\n0:00;long,short|8|PENDING||Priority\n");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].queue == "normal");
  CHECK(rows[0].run_seconds == 93784);
  CHECK(rows[0].reason == "a|b");
  CHECK(rows[1].queue == "long,short");
  CHECK_FALSE(rows[1].run_seconds.has_value());
  const auto accounted = parse_sacct("7|COMPLETED|0:0|n1|normal|00:01:10\n");
  CHECK(accounted.at(0).queue == "normal");
  CHECK(accounted.at(0).run_seconds == 70);
  struct Elapsed {
    std::string text;
    std::optional<std::uint64_t> seconds;
  };
  for (const Elapsed& row : std::vector<Elapsed>{{"42", 42},
                                                 {"3:04", 184},
                                                 {"02:03:04", 7384},
                                                 {"", {}},
                                                 {"INVALID", {}},
                                                 {"1:2:3:4", {}},
                                                 {"x-1:00", {}}}) {
    CAPTURE(row.text);
    CHECK(parse_elapsed(row.text) == row.seconds);
  }
  CHECK(parse_squeue("CLUSTER: west\n7|RUNNING|n1|a|b\n").at(0).reason == "a|b");
}

TEST_CASE("recorded scontrol: exit codes, signals, restarts") {
  check_rows(parse_scontrol_jobs(recorded("slurm/03_scontrol_job.txt").out),
             {{"3", S::running, {}, 0, "", "minsky[1-4]"}, {"4", S::queued, {}, 0, "Priority"}});
  const auto jobs = parse_scontrol_jobs(recorded("slurm/24_scontrol_mid.txt").out);
  check_rows(jobs, {{"1", S::failed, 7, 0, "NonZeroExitCode", "node1"},
                    {"2", S::failed, 137, 9, "JobLaunchFailure", "node1"},
                    {"4", S::held, {}, 0, "JobHeldUser"},
                    {"6_0", S::completed, 0, 0, "", "node1"},
                    {"6_1", S::failed, 1, 0, "NonZeroExitCode", "node1"},
                    {"6_2", S::cancelled, 143, 15, "", "node1"},
                    {"6_4", S::cancelled, {}, 0, ""},
                    {"6_5", S::cancelled, {}, 0, ""},
                    {"7", S::failed, {}, 0, "ExitCode 0:53", "node1"},
                    {"8", S::cancelled, 143, 15, "", "node1"},
                    {"11", S::cancelled, {}, 0, ""},
                    {"13", S::queued, {}, 0, "BeginTime"}});
  CHECK(by_id(jobs, "13")->restarts == 1);
  CHECK(by_id(jobs, "2")->explained.find("killed with signal 9") != std::string::npos);
  CHECK(by_id(jobs, "7")->explained.find("output file") != std::string::npos);
  check_rows(parse_scontrol_jobs(recorded("slurm/27_scontrol_node.txt").out),
             {{"3", S::timed_out, {}, 0, "TimeLimit", "node1"}, {"13", S::running, {}, 0, "", "node1"}});
  CHECK(parse_scontrol_jobs(recorded("slurm/10_unknown_scontrol.txt").out).empty());
}

TEST_CASE("a newline in a job's name, or fields in it, do not mislead") {
  const std::string rest =
      " UserId=ddl(2000) GroupId=ddl(2000) JobState=RUNNING Reason=None Dependency=(null) Restarts=2 "
      "ExitCode=0:0 "
      "NodeList=n1 Comment= JobState=FAILED\n";
  for (const char* name : {"a\nb", "a JobState=FAILED Reason=None", "a b", "x\n\ny"}) {
    CAPTURE(name);
    const auto jobs =
        parse_scontrol_jobs("JobId=3 JobName=" + std::string(name) + rest + "JobId=4 JobName=c" + rest);
    REQUIRE(jobs.size() == 2);
    CHECK(jobs[0].state == S::running);
    CHECK(jobs[0].restarts == 2);
    CHECK(jobs[1].id == "4");
  }
}

TEST_CASE("recorded sacct") {
  check_rows(parse_sacct(recorded("slurm/09_sacct_X.txt").out), {{"3", S::cancelled, {}},
                                                                 {"4", S::running, {}},
                                                                 {"6", S::queued, {}},
                                                                 {"7", S::failed, 1},
                                                                 {"5_0", S::completed, 0},
                                                                 {"5_1", S::failed, 1},
                                                                 {"5_5", S::failed, 5}});
  CHECK(parse_sacct(recorded("slurm/10_unknown_sacct.txt").out).empty());
  const auto nodes = parse_sacct(
      "JobID|State|ExitCode|NodeList\n7|FAILED|1:0|None assigned\n8|FAILED|0:9|n[1-2]\n"
      "8.batch|FAILED|0:9|n1\n9|NODE_FAIL|1:0|n1\n10|OUT_OF_MEMORY|0:125|n1\n");
  CHECK(nodes.size() == 4);
  check_rows(nodes, {{"7", S::failed, {}},  // no node: it never ran, and 1:0 is Slurm's own
                     {"8", S::failed, 137, 9, "", "n[1-2]"},
                     {"9", S::node_failed, {}, 0, "", "n1"},
                     {"10", S::out_of_memory, {}, 0, "", "n1"}});
  CHECK(by_id(parse_sacct(recorded("slurm/09_sacct_X.txt").out), "3")->explained.find("2000") !=
        std::string::npos);
}

TEST_CASE("every word of Slurm has a state, and an unknown one is no end") {
  struct Row {
    const char *word, *reason;
    JobState state;
  };
  const Row rows[] = {{"PENDING", "Priority", S::queued},
                      {"PENDING", "JobHeldAdmin", S::held},
                      {"PENDING", "launch_failed_requeued_held", S::held},
                      {"PENDING", "job requeued in held state", S::held},
                      {"CONFIGURING", "None", S::queued},
                      {"RUNNING", "None", S::running},
                      {"COMPLETING", "NonZeroExitCode", S::running},
                      {"STAGE_OUT", "None", S::running},
                      {"STOPPED", "None", S::running},
                      {"SUSPENDED", "None", S::held},
                      {"REQUEUED", "None", S::queued},
                      {"REQUEUE_HOLD", "None", S::held},
                      {"SPECIAL_EXIT", "None", S::held},
                      {"COMPLETED", "None", S::completed},
                      {"FAILED", "NonZeroExitCode", S::failed},
                      {"CANCELLED", "None", S::cancelled},
                      {"CANCELLED by 2000", "", S::cancelled},
                      {"CANCELLED+", "", S::cancelled},
                      {"PREEMPTED", "None", S::cancelled},
                      {"TIMEOUT", "TimeLimit", S::timed_out},
                      {"DEADLINE", "None", S::timed_out},
                      {"NODE_FAIL", "None", S::node_failed},
                      {"BOOT_FAIL", "None", S::node_failed},
                      {"OUT_OF_MEMORY", "OutOfMemory", S::out_of_memory},
                      {"A_NEW_WORD", "None", S::running}};
  for (const Row& row : rows) {
    CAPTURE(row.word);
    CHECK(name_of(slurm_state(row.word, row.reason)) == name_of(row.state));
  }
  CHECK_FALSE(explain_slurm(S::running, "A_NEW_WORD", "None").empty());
}

TEST_CASE("reasons for waiting come with what to do") {
  for (const char* reason : {"PartitionNodeLimit",
                             "PartitionTimeLimit",
                             "ReqNodeNotAvail",
                             "ReqNodeNotAvail, UnavailableNodes:node1",
                             "Resources",
                             "Priority",
                             "Dependency",
                             "DependencyNeverSatisfied",
                             "AssocGrpCPUMinutesLimit",
                             "AssocGrpNodeLimit",
                             "QOSMaxJobsPerUserLimit",
                             "QOSMaxGRESPerUser",
                             "BadConstraints",
                             "JobHeldUser",
                             "JobHeldAdmin",
                             "launch failed requeued held",
                             "BeginTime",
                             "Licenses",
                             "Reservation",
                             "InvalidAccount",
                             "InvalidQOS",
                             "PartitionDown",
                             "JobArrayTaskLimit",
                             "AssocMaxJobsLimit",
                             "MaxGRESPerAccount"}) {
    CAPTURE(reason);
    CHECK(explain_slurm(S::queued, "PENDING", reason).size() > 20);
  }
  // What is to be typed holds the id.
  CHECK(parse_squeue("77|PENDING||JobHeldUser\n")[0].explained.find("scontrol release 77") !=
        std::string::npos);
}

TEST_CASE("what never comes is reported from what takes its time, and a reason for waiting from an end") {
  struct Row {
    const char *word, *reason;
    bool never;
    const char *remedy, *kept;  // the reason that is left
  };
  const Row rows[] = {
      {"PENDING", "PartitionTimeLimit", true, "--walltime", "PartitionTimeLimit"},
      {"PENDING", "PartitionNodeLimit", true, "nodes", "PartitionNodeLimit"},
      {"PENDING", "PartitionConfig", true, "--queue", "PartitionConfig"},
      {"PENDING", "BadConstraints", true, "--constraint", "BadConstraints"},
      {"PENDING", "DependencyNeverSatisfied", true, "--dependencies", "DependencyNeverSatisfied"},
      {"PENDING", "AssocMaxWallDurationPerJobLimit", true, "--walltime", "AssocMaxWallDurationPerJobLimit"},
      {"PENDING", "QOSMaxNodePerJobLimit", true, "--qos", "QOSMaxNodePerJobLimit"},
      {"PENDING", "QOSMinCpuNotSatisfied", true, "--qos", "QOSMinCpuNotSatisfied"},
      {"PENDING", "MaxMemPerLimit", true, "--memory", "MaxMemPerLimit"},
      {"PENDING", "InvalidAccount", true, "--account", "InvalidAccount"},
      {"PENDING", "AccountNotAllowed", true, "--account", "AccountNotAllowed"},
      {"PENDING", "InvalidQOS", true, "--qos", "InvalidQOS"},
      {"PENDING", "QOSNotAllowed", true, "--qos", "QOSNotAllowed"},
      {"PENDING", "ReqNodeNotAvail, Reserved for maintenance", false, "",
       "ReqNodeNotAvail, Reserved for maintenance"},
      {"PENDING", "AssocGrpNodeLimit", false, "", "AssocGrpNodeLimit"},
      {"PENDING", "QOSMaxJobsPerUserLimit", false, "", "QOSMaxJobsPerUserLimit"},
      {"PENDING", "PartitionDown", false, "", "PartitionDown"},
      {"PENDING", "Dependency", false, "", "Dependency"},
      {"PENDING", "Resources", false, "", "Resources"},
      {"RUNNING", "PartitionTimeLimit", false, "", "PartitionTimeLimit"},
      {"CANCELLED", "PartitionTimeLimit", false, "", ""},
      {"CANCELLED", "Dependency", false, "", ""},
      {"FAILED", "NonZeroExitCode", false, "", "NonZeroExitCode"},
      {"TIMEOUT", "TimeLimit", false, "", "TimeLimit"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.word);
    CAPTURE(row.reason);
    const auto jobs = parse_squeue("9|" + std::string(row.word) + "||" + row.reason + "\n");
    REQUIRE(jobs.size() == 1);
    CHECK(jobs[0].never == row.never);
    CHECK(jobs[0].remedy.empty() != row.never);
    CHECK(jobs[0].remedy.find(row.remedy) != std::string::npos);
    CHECK(jobs[0].reason == row.kept);
  }
}

TEST_CASE("recorded refusals are reported with their meaning, a silent controller as such") {
  struct Row {
    const char* file;
    ErrorKind kind;
    const char* meaning;
  };
  const Row rows[] = {
      {"05_gres_bad", ErrorKind::scheduler, "no node has what"},
      {"06_partition_bad", ErrorKind::scheduler, "no such partition"},
      {"11_ctld_down_sbatch", ErrorKind::unreachable, "no answer"},
      {"25_bad_array", ErrorKind::scheduler, "array's range"},
      {"25_bad_cpus", ErrorKind::scheduler, "no node has what"},
      {"25_bad_crlf", ErrorKind::scheduler, "Windows line ends"},
      {"25_bad_directive", ErrorKind::scheduler, "#SBATCH line"},
      {"25_bad_feature", ErrorKind::scheduler, "feature"},
      {"25_bad_file", ErrorKind::scheduler, "cannot read the script"},
      {"25_bad_gres", ErrorKind::scheduler, "no resource of this name"},
      {"25_bad_mem", ErrorKind::scheduler, "no node has what"},
      {"25_bad_nodes", ErrorKind::scheduler, "host of that name"},
      {"25_bad_option", ErrorKind::scheduler, "#SBATCH line"},
      {"25_bad_reservation", ErrorKind::scheduler, "no such reservation"},
      {"25_bad_shebang", ErrorKind::scheduler, "names no shell"},
      {"25_bad_time", ErrorKind::scheduler, "malformed"},
      {"01_testonly_bad", ErrorKind::scheduler, "no node has what"},
  };
  const auto slurm = make_scheduler(SchedulerKind::slurm);
  for (const Row& row : rows) {
    CAPTURE(row.file);
    const ProcessResult answer = recorded("slurm/" + std::string(row.file) + ".txt");
    try {
      slurm->read_submission(answer);
      FAIL("it was taken for a success");
    } catch (const Error& error) {
      CHECK(error.kind() == row.kind);
      CAPTURE(error.message().what);
      CHECK(error.message().what.find(row.meaning) != std::string::npos);
      CHECK(error.message().what.find('\n') == std::string::npos);
      CHECK_FALSE(error.message().hint.empty());
      // Slurm's own words are there too.
      const std::string words = reported_text(answer);
      CHECK(words.size() > 10);
      CHECK(error.message().what.find(words) != std::string::npos);
    }
  }
  CHECK(slurm->read_submission(recorded("slurm/25_bad_dep.txt")) == "22");  // 22.05 takes it
  CHECK_THROWS_AS(slurm->read_submission(answered("", 0)), Error);
  CHECK_THROWS_AS(slurm->read_submission(answered("", 1, "sbatch: error: something new")), Error);
}

TEST_SUITE_END();
