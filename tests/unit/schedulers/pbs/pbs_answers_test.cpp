// SPDX-License-Identifier: MIT
// Every recorded answer of OpenPBS, read to the state, code and reason that the job really had.
#include "schedulers/pbs/pbs_answers.hpp"

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
const auto pbs_scheduler = make_scheduler(SchedulerKind::pbs);

struct AnswerRow {
  const char* file;
  const char* id;
  JobState state;
  std::optional<int> exit_status;
  int signal;
  const char* word;
  const char* reason;     // occurs in it
  const char* explained;  // likewise
  const char* hosts;
};

constexpr const char* kFour = "minsky1,minsky2,minsky3,minsky4";
const AnswerRow kRows[] = {
    {"02_qstat_R", "0.minsky1", S::running, {}, 0, "R", "Job run at Sat Nov 21", "", kFour},
    {"07_all",
     "1.minsky1",
     S::queued,
     {},
     0,
     "Q",
     "Can Never Run",
     "requests 340 ncpus, more than the 272 of a host, or of all hosts",
     ""},
    {"07_all", "2.minsky1", S::held, {}, 0, "H", "Hold_Types=u", "qrls 2.minsky1", ""},
    {"07_all", "4.minsky1", S::held, {}, 0, "H", "Hold_Types=s", "afterok:2.minsky1", ""},
    {"08_x_all", "0.minsky1", S::failed, 4, 0, "F", "", "", kFour},
    {"08_x_all", "1.minsky1", S::queued, {}, 0, "Q", "Can Never Run", "wait forever", ""},
    {"08_x_all", "3[0].minsky1", S::completed, 0, 0, "F", "", "", "minsky1"},
    {"08_x_all", "3[1].minsky1", S::failed, 1, 0, "F", "", "", "minsky1"},
    {"08_x_all", "3[2].minsky1", S::failed, 2, 0, "F", "", "", "minsky1"},
    {"08_x_all", "3[].minsky1", S::failed, 2, 0, "F", "", "", "minsky1"},
    {"11_mixed", "0.minsky1", S::failed, 4, 0, "F", "", "", kFour},
    {"13_deleted_while_queued", "1.minsky1", S::cancelled, {}, 0, "F", "", "before it started", ""},
    {"16_deleted_while_running", "5.minsky1", S::cancelled, 143, 15, "F", "terminated by ddl@minsky1", "",
     "minsky1"},
};

void check_row(const AnswerRow& row, const JobStatus& status) {
  CAPTURE(row.file);
  CAPTURE(row.id);
  CHECK(status.id == row.id);
  CHECK(name_of(status.state) == name_of(row.state));
  CHECK(status.exit_status == row.exit_status);
  CHECK(status.signal == row.signal);
  CHECK(status.word == row.word);
  CHECK(status.reason.find(row.reason) != std::string::npos);
  // Of an end the comment repeats date, hosts and state, which have their own columns.
  if (is_over(row.state) && row.hosts[0] != '\0') CHECK(status.reason == row.reason);
  CHECK(status.explained.find(row.explained) != std::string::npos);
  CHECK(status.explained.empty() == std::string(row.explained).empty());
  CHECK(status.hosts == row.hosts);
  CHECK(status.restarts == 0);
  CHECK(status.never == (std::string(row.reason) == "Can Never Run"));
  CHECK(status.remedy.empty() != status.never);
}

// A job's attributes as JSON, for what no machine recorded.
JobStatus reported(const std::string& fields) {
  const auto jobs = parse_qstat_json(R"({"Jobs":{"7.s":{)" + fields + "}}}");
  REQUIRE(jobs);
  REQUIRE(jobs->size() == 1);
  return pbs_status(jobs->front());
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/pbs/pbs_answers");

TEST_CASE("recorded JSON") {
  for (const AnswerRow& row : kRows) {
    const FakeAsk ask{{{"qstat -x -t -f -F json", recorded("pbs/" + std::string(row.file) + ".json")},
                       {"pbsnodes -a -F json", answered("")}}};
    const JobStatus status = pbs_scheduler->read_states(std::vector<JobId>{row.id}, ask).at(row.id);
    check_row(row, status);
    CHECK(ask.asked->size() == (status.never ? 2 : 1));
  }
}

TEST_CASE("the name of a job and the paths of its logs") {
  JobStatus status = reported(
      R"("job_state":"F","Job_Name":"plain","Output_Path":"node1:/home/ddl/plain.o7","Error_Path":"node1:/home/ddl/plain.e7","Join_Path":"n")");
  CHECK(status.name == "plain");
  CHECK(status.output == "/home/ddl/plain.o7");
  CHECK(status.error_output == "/home/ddl/plain.e7");
  status = reported(
      R"("job_state":"F","Output_Path":"node1:/logs/","Error_Path":"node1:/home/ddl/plain.e7","Join_Path":"oe")");
  CHECK(status.output == "/logs/7.s.OU");
  CHECK(status.error_output.empty());
  status = reported(
      R"("job_state":"R","interactive":"True","Output_Path":"node1:/home/ddl/STDIN.o7","Join_Path":"n")");
  CHECK(status.output.empty());
  status = reported(R"("job_state":"F","Output_Path":"a","Error_Path":"node1:/e","Join_Path":"eo")");
  CHECK(status.output == "/e");
}

TEST_CASE("the same jobs from the folded text") {
  for (const std::string file : {"02_qstat_R", "08_x_all"}) {
    const auto text = parse_qstat_text(recorded_file("pbs/" + file + ".txt"));
    auto json = parse_qstat_json(recorded_file("pbs/" + file + ".json"));
    REQUIRE(json);
    CHECK(text.size() == json->size());
    for (const PbsJob& job : *json) {
      CAPTURE(job.id);
      for (const PbsJob& other : text) {
        if (other.id != job.id) continue;
        CHECK(other.attributes == job.attributes);
      }
    }
    for (const AnswerRow& row : kRows)
      if (row.file == file) check_row(row, status_of(row.id, text, pbs_status, "unknown"));
  }
}

TEST_CASE("one question for all, the unknown among them") {
  const FakeAsk ask{{{"qstat -x -t -f -F json 0.minsky1 9999.minsky1", recorded("pbs/11_mixed.json")}}};
  const auto states = pbs_scheduler->read_states(std::vector<JobId>{"0.minsky1", "9999.minsky1"}, ask);
  CHECK(states.at("0.minsky1").exit_status == 4);
  CHECK(states.at("9999.minsky1").state == S::unknown);
  CHECK_FALSE(states.at("9999.minsky1").explained.empty());
  const FakeAsk none{{{"qstat", recorded("pbs/10_unknown.json")}}};
  CHECK(pbs_scheduler->read_states(std::vector<JobId>{"9999"}, none).at("9999").state == S::unknown);
  const FakeAsk finished{{{"qstat", recorded("pbs/09_finished_nox.txt")}}};
  CHECK(pbs_scheduler->read_states(std::vector<JobId>{"0"}, finished).at("0").state == S::unknown);
  CHECK(pbs_scheduler->read_states({}, FakeAsk{}).empty());
}

TEST_CASE("an id may be queried without its server, or with its long name") {
  const auto jobs = parse_qstat_json(recorded_file("pbs/08_x_all.json"));
  for (const char* id : {"0", "0.minsky1", "0.minsky1.cluster.example"}) {
    CHECK(status_of(id, *jobs, pbs_status, "?").exit_status == 4);
    CHECK(status_of(id, *jobs, pbs_status, "?").id == id);
  }
  CHECK(status_of("3[]", *jobs, pbs_status, "?").tasks.size() == 3);
  CHECK(status_of("3[1]", *jobs, pbs_status, "?").exit_status == 1);
  CHECK(status_of("30.minsky1", *jobs, pbs_status, "?").state == S::unknown);
}

TEST_CASE("ends of jobs: exit status and substate") {
  struct End {
    const char* fields;
    JobState state;
    std::optional<int> exit_status;
    int signal;
  };
  const End ends[] = {
      {R"("job_state":"F","substate":92,"Exit_status":0)", S::completed, 0, 0},
      {R"("job_state":"F","substate":93,"Exit_status":7)", S::failed, 7, 0},
      {R"("job_state":"F","substate":93,"Exit_status":"7")", S::failed, 7, 0},
      {R"("job_state":"F","substate":93,"Exit_status":127)", S::failed, 127, 0},
      {R"("job_state":"F","substate":93,"Exit_status":139)", S::failed, 139, 11},
      {R"("job_state":"F","substate":93,"Exit_status":255)", S::failed, 255, 0},
      {R"("job_state":"F","substate":93,"Exit_status":200)", S::failed, 200, 0},
      {R"("job_state":"F","substate":93,"Exit_status":99999)", S::failed, 255, 0},
      {R"("job_state":"F","substate":91,"Exit_status":271)", S::cancelled, 143, 15},
      {R"("job_state":"F","Exit_status":271)", S::cancelled, 143, 15},
      {R"("job_state":"F","substate":91,"Exit_status":265)", S::cancelled, 137, 9},
      {R"("job_state":"F","substate":93,"Exit_status":265)", S::failed, 137, 9},
      {R"("job_state":"F","substate":93,"Exit_status":-29)", S::timed_out, {}, 0},
      {R"("job_state":"F","substate":91,"Exit_status":-29)", S::timed_out, {}, 0},
      // Before the negative codes a walltime's end was 271, too.
      {R"("job_state":"F","Exit_status":271,"resources_used":{"walltime":"01:00:09"},)"
       R"("Resource_List":{"walltime":"01:00:00"})",
       S::timed_out, 143, 15},
      {R"("job_state":"F","Exit_status":271,"resources_used":{"walltime":"00:10:00"},)"
       R"("Resource_List":{"walltime":"01:00:00"})",
       S::cancelled, 143, 15},
      {R"("job_state":"F","substate":93,"Exit_status":-27)", S::out_of_memory, {}, 0},
      {R"("job_state":"F","substate":93,"Exit_status":-28)", S::timed_out, {}, 0},
      {R"("job_state":"F","substate":93,"Exit_status":-25)", S::failed, {}, 0},
      {R"("job_state":"F","substate":93,"Exit_status":-20)", S::node_failed, {}, 0},
      {R"("job_state":"F","substate":93,"Exit_status":-1)", S::failed, {}, 0},
      {R"("job_state":"F","substate":93,"Exit_status":-999)", S::failed, {}, 0},
      {R"("job_state":"F","substate":91)", S::cancelled, {}, 0},
      {R"("job_state":"F","substate":92,"depend":"afterok:2.s@s")", S::cancelled, {}, 0},
      {R"("job_state":"F","substate":92)", S::cancelled, {}, 0},
      {R"("job_state":"X","substate":92)", S::completed, {}, 0},
      {R"("job_state":"X","substate":93)", S::failed, {}, 0},
      {R"("job_state":"X","substate":92,"Exit_status":0)", S::completed, 0, 0},
      {R"("job_state":"F")", S::unknown, {}, 0},
      {R"("job_state":"M")", S::unknown, {}, 0},
  };
  for (const End& end : ends) {
    CAPTURE(end.fields);
    const JobStatus status = reported(end.fields);
    CHECK(name_of(status.state) == name_of(end.state));
    CHECK(status.exit_status == end.exit_status);
    CHECK(status.signal == end.signal);
    if (status.state != S::completed && status.state != S::failed && !status.exit_status &&
        status.state != S::unknown)
      CHECK_FALSE(status.explained.empty());
  }
}

TEST_CASE("letters of jobs that are not over") {
  const std::pair<const char*, JobState> letters[] = {{"Q", S::queued},  {"H", S::held},    {"W", S::queued},
                                                      {"T", S::queued},  {"R", S::running}, {"E", S::running},
                                                      {"B", S::running}, {"S", S::held},    {"U", S::held}};
  for (const auto& [letter, state] : letters) {
    CAPTURE(letter);
    // A job that runs again has the exit status of its last run.
    const JobStatus status =
        reported(R"("job_state":")" + std::string(letter) + R"(","Exit_status":1,"run_count":3)");
    CHECK(name_of(status.state) == name_of(state));
    CHECK_FALSE(status.exit_status);
    CHECK(status.restarts == 2);
  }
}

TEST_CASE("JSON as PBS really writes it") {
  const auto state = [](const std::string& out) {
    return parse_qstat_json(out).value().at(0).get("job_state");
  };
  // Numbers, an env variable with the quote of another language, raw control characters, bytes that are no
  // UTF-8.
  CHECK(state(R"({"Jobs":{"1.s":{"Variable_List":{"A":1,"SHLVL":0,"B":"x,y"},"job_state":"R","x":1e9}}})") ==
        "R");
  CHECK(state("{\"Jobs\":{\"1.s\":{\"Job_Name\":\"a\tb\nc\x01\",\"job_state\":\"R\"}}}") == "R");
  CHECK(state("{\"Jobs\":{\"1.s\":{\"comment\":\"\xff\xfe \\\" \\\\\",\"job_state\":\"R\"}}}") == "R");
  CHECK(parse_qstat_json("{\"Jobs\":{\"1.s\":{\"comment\":\"\xea\xb0\x80\"}}}")->at(0).get("comment") ==
        "\xea\xb0\x80");
  CHECK(parse_qstat_json("{\"Jobs\":{}}").value().empty());
  CHECK(parse_qstat_json("{}").value().empty());
  for (const char* broken :
       {"", "Job Id: 1.s\n    job_state = R\n", "{\"Jobs\":{\"1.s\":{\"A\":01}}}", "[]",
        "{\"Jobs\":{\"1.s\":{\"A\":\"say \"hi\"\"}}}", "{\"Jobs\":[]}", "{\"Jobs\":{\"1.s\":"})
    CHECK_FALSE(parse_qstat_json(broken));
}

TEST_CASE("broken JSON, an old qstat or no history: the question is put again") {
  const auto state = [](const FakeAsk& ask) {
    return pbs_scheduler->read_states(std::vector<JobId>{"0"}, ask).at("0");
  };
  const ProcessResult text = recorded("pbs/08_x_all.txt");
  const FakeAsk broken{
      {{"qstat -x -t -f -F json", answered("{\"Jobs\":{\"0.minsky1\":{\"V\":{\"A\":007}}}}")},
       {"qstat -x -t -f 0", text}}};
  CHECK(state(broken).exit_status == 4);
  const FakeAsk old{
      {{"qstat -x -t -f -F json", answered("", 2, "qstat: invalid option -- 'F'\nusage:\nqstat [-f]\n")},
       {"qstat -x -t -f 0", text}}};
  CHECK(state(old).exit_status == 4);
  const ProcessResult forgetful = answered("", 43, "qstat: PBS is not configured to maintain job history\n");
  const FakeAsk no_history{
      {{"qstat -x", forgetful}, {"qstat -t -f -F json 0", recorded("pbs/02_qstat_R.json")}}};
  CHECK(state(no_history).state == S::running);
  const FakeAsk gone{{{"qstat -x", forgetful}, {"qstat -t -f -F json 0", recorded("pbs/10_unknown.json")}}};
  CHECK(state(gone).state == S::unknown);
}

TEST_CASE("a server that is down is no finding about a job") {
  for (const ProcessResult& answer :
       {recorded("pbs/23_server_down_qstat.txt"), answered("", 255), answered("", 1)}) {
    const FakeAsk ask{{{"qstat", answer}}};
    try {
      pbs_scheduler->read_states(std::vector<JobId>{"0.minsky1"}, ask);
      FAIL("an answer from nowhere");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::unreachable);
    }
  }
}

TEST_CASE("recorded submissions") {
  const std::pair<const char*, const char*> good[] = {
      {"01_qsub", "0.minsky1"},         {"03_qsub_big", "1.minsky1"}, {"04_qsub_hold", "2.minsky1"},
      {"05_qsub_array", "3[].minsky1"}, {"06_qsub_dep", "4.minsky1"}, {"14_qsub", "5.minsky1"}};
  for (const auto& [file, id] : good)
    CHECK(pbs_scheduler->read_submission(recorded("pbs/" + std::string(file) + ".out")) == id);
  CHECK(pbs_scheduler->read_submission(answered("quota: 4 h left\n12.pbs-1.site.example\n")) ==
        "12.pbs-1.site.example");
  for (const char* bad : {"", "ok", "12.", "12[.s", "x.minsky1", "1 2", "3[a].s"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(pbs_scheduler->read_submission(answered(bad)), Error);
  }
}

TEST_CASE("refusals of qsub, by the words and exit statuses that OpenPBS gave") {
  struct Refused {
    ProcessResult answer;
    ErrorKind kind;
    const char* meaning;
  };
  const auto said = [](int rc, const char* words) {
    return answered("", rc, std::string("qsub: ") + words + "\n");
  };
  const Refused rows[] = {
      {recorded("pbs/17_qsub_unknown_res.out"), ErrorKind::scheduler, "no resource `ngpus`"},
      {recorded("pbs/18_qsub_badqueue.out"), ErrorKind::scheduler, "no such queue"},
      {recorded("pbs/19_qsub_walltime.out"), ErrorKind::scheduler, "above what the queue allows"},
      {recorded("pbs/24_server_down_qsub.out"), ErrorKind::unreachable, "does not answer"},
      {answered("", 1,
                "perl: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\n"
                "perl: fatal: Could not establish a configuration source\n"),
       ErrorKind::unreachable, "no server answers: qsub is Slurm's wrapper here"},
      {answered("", 1,
                "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect "
                "failure)\n"),
       ErrorKind::unreachable, "no server answers"},
      {answered("", 1,
                "pbsconf error: pbs conf variables not found: PBS_HOME PBS_EXEC PBS_SERVER\n"
                "qsub: cannot connect to server (null) (errno=15010)\n"),
       ErrorKind::unreachable, "no PBS configuration"},
      {answered("", 1, "Unknown Host.\nqsub: cannot connect to server pbs01 (errno=15008)\n"),
       ErrorKind::unreachable, "the name of the PBS server does not resolve"},
      {said(1, "something new"), ErrorKind::scheduler, "qsub refused"},
      {said(1, "directive error: -Z foo"), ErrorKind::scheduler, "#PBS line"},
      {said(1, "script contains cr, lf"), ErrorKind::scheduler, "Windows line ends"},
      {said(2, "illegal -N value"), ErrorKind::scheduler, "job's name"},
      {said(2, "Job name is too long"), ErrorKind::scheduler, "job's name"},
      {said(5, "\"-lresource=\" cannot be used with \"select\" or \"place\", resource is: ncpus"),
       ErrorKind::scheduler, "two styles"},
      {said(6, "Cannot be used with select or place: nodes"), ErrorKind::scheduler, "two styles"},
      {said(166, "Illegal attribute or resource value"), ErrorKind::scheduler, "malformed"},
      {said(162, "something in another language"), ErrorKind::unreachable, "does not answer"},
      {said(170, "something in another language"), ErrorKind::scheduler, "no such queue"},
      {said(187, "something in another language"), ErrorKind::scheduler, "no resource"},
      {said(188, "something in another language"), ErrorKind::scheduler, "above what the queue allows"},
      {said(99, "something new"), ErrorKind::scheduler, "refused"},
      {said(38, "would exceed queue generic's per-user limit"), ErrorKind::scheduler, "your waiting jobs"},
      {said(39, "would exceed per-user limit on resource ncpus in queue four"), ErrorKind::scheduler,
       "your waiting jobs"},
      {said(159, "Unauthorized Request"), ErrorKind::scheduler, "the queue is not for you"},
      {said(173, "Queue is not enabled"), ErrorKind::scheduler, "takes no jobs now"},
      {said(175, "Bad UID for job execution"), ErrorKind::scheduler, "refuses root"},
  };
  for (const Refused& row : rows) {
    CAPTURE(row.answer.err);
    try {
      pbs_scheduler->read_submission(row.answer);
      FAIL("it was taken for a success");
    } catch (const Error& error) {
      CHECK(error.kind() == row.kind);
      CAPTURE(error.message().what);
      CHECK(error.message().what.find(row.meaning) != std::string::npos);
      CHECK(error.message().what.find(reported_text(row.answer)) != std::string::npos);
    }
  }
}

TEST_CASE("comments of waiting jobs, for people") {
  const std::pair<const char*, const char*> rows[] = {
      {"Can Never Run: Insufficient amount of resource: ncpus (R: 340 A: 272 T: 272)",
       "340 ncpus, more than the 272 of a host, or of all hosts: it would wait forever"},
      {"Can Never Run: Not enough total nodes available", "more nodes than there are"},
      {"Not Running: Insufficient amount of resource: ncpus ", "no single host"},
      {"Not Running: Insufficient amount of resource: ngpus (R: 8 A: 4 T: 16)", "8 ngpus; 4 of 16"},
      {"Not Running: Queue not started.", "starts none"},
      {"Not Running: User has reached server running job limit.", "your jobs"},
      {"Not Running: Job would conflict with reservation or top job", "shorter walltime"},
      {"Not Running: No available resources on nodes", "no host has"},
      {"Not Running: Insufficient amount of resource: host", "by name is taken or down"},
      {"Not Running: User has reached queue one running job limit.", "your jobs"},
      {"Not Running: Queue three per-user limit reached on resource ncpus", "a limit of the queue"},
      {"Not Running: Not enough free nodes available", "not free"},
  };
  for (const auto& [comment, text] : rows) {
    CAPTURE(comment);
    CHECK(explain_pbs_comment(comment).find(text) != std::string::npos);
  }
  CHECK(explain_pbs_comment("").empty());
}

TEST_CASE("cancelling") {
  CHECK(pbs_scheduler->cancel_command("3[].minsky1") == Command{"qdel", "3[].minsky1"});
  CHECK(pbs_scheduler->read_cancellation("1.s", recorded("pbs/12_qdel_q.out")).find("being cancelled") !=
        std::string::npos);
  CHECK(pbs_scheduler->read_cancellation("5.s", recorded("pbs/15_qdel.out")).find("being cancelled") !=
        std::string::npos);
  CHECK(pbs_scheduler->read_cancellation("9.s", answered("", 153, "qdel: Unknown Job Id 9.s\n"))
            .find("already over") != std::string::npos);
  CHECK(pbs_scheduler->read_cancellation("9.s", answered("", 35, "qdel: Job has finished 9.s\n"))
            .find("already over") != std::string::npos);
  CHECK_THROWS_AS(
      pbs_scheduler->read_cancellation("9.s", answered("", 159, "qdel: Unauthorized Request  9.s\n")), Error);
}

TEST_SUITE_END();
