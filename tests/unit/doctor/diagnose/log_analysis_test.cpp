// SPDX-License-Identifier: MIT
// From logs to a diagnosis: the ranking of causes, the first failing rank, exit statuses, several logs,
// hostile input.
#include "doctor/diagnose/log_analysis.hpp"

#include "doctor/diagnose/diagnosis_json.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "doctor/diagnose/stream_analyzer.hpp"
#include "tests/support/mutate.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

namespace {

std::string id_of(const Diagnosis& diagnosis) { return diagnosis.cause ? diagnosis.cause->id : "none"; }

const std::string generic = "ORTE was unable to reliably start one or more daemons.\n";
const std::string secondary = "Primary job  terminated normally, but 1 process returned\n";

Diagnosis diagnose_logs(const std::vector<std::pair<std::string, std::string>>& logs) {
  LogAnalysis analysis(builtin_signatures());
  for (const auto& [name, text] : logs) {
    analysis.begin_source(name);
    analysis.take(text);
    analysis.end_source();
  }
  return analysis.diagnosis({});
}

bool is_clean(const std::string& text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f) return false;
  }
  return true;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/log_analysis");

TEST_CASE("a primary cause outranks a generic one, and the earliest of a class comes first") {
  struct Row {
    std::string text;
    const char* id;
    Verdict verdict;
  };
  const std::string c5 = "ssh: Could not resolve hostname h9: Name or service not known\n";
  const std::string c6 = "ssh: connect to host h8 port 22: Connection timed out\n";
  const Row rows[] = {
      {generic + c5, "C5", Verdict::cause_found},
      {c6 + c5 + generic, "C6", Verdict::cause_found},
      {c5 + c6, "C5", Verdict::cause_found},
      {"WARNING: Open MPI failed to TCP connect to a peer MPI process via\n" + c5, "C5",
       Verdict::cause_found},
      {secondary + generic, "C1", Verdict::cause_found},
      {secondary, "none", Verdict::unknown},
      {"WARNING: There was an error initializing an OpenFabrics device.\n", "none", Verdict::no_trouble},
      {"epoch 1 loss 2.3\ntrain error: 0.31\n0 errors\n", "none", Verdict::no_trouble},
      {"RuntimeError: shapes do not fit\n", "L19", Verdict::likely_cause},
      {"", "none", Verdict::no_trouble},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text(row.text);
    CHECK(id_of(diagnosis) == row.id);
    CHECK(diagnosis.verdict == row.verdict);
  }
}

TEST_CASE("the exit status of the run decides whether it failed") {
  CHECK(diagnose_text("RuntimeError: x\n", {0, LogSource::unknown}).verdict == Verdict::no_trouble);
  CHECK(diagnose_text("fine\n", {3, LogSource::unknown}).verdict == Verdict::unknown);
  const Diagnosis ended_well =
      diagnose_text("ssh: connect to host h8 port 22: Connection timed out\n", {0, LogSource::mpirun});
  CHECK(ended_well.verdict == Verdict::no_trouble);  // a note
  REQUIRE(!ended_well.also_seen.empty());
  CHECK(ended_well.also_seen[0].id == "C6");
  const std::string lost = "ORTE has lost communication with a remote daemon.\n";
  CHECK(diagnose_text(lost, {0, LogSource::mpirun}).verdict == Verdict::no_trouble);
  CHECK(id_of(diagnose_text(lost, {205, LogSource::mpirun})) == "C12");
  CHECK(id_of(diagnose_text(secondary +
                            "ddlrun: the job ended by signal 9 (status 137); run directory x\n")) == "E1");
  CHECK(id_of(diagnose_text("step 1\n", {134, LogSource::mpirun})) == "E30");
  CHECK(id_of(diagnose_text("terminate called after throwing an instance of 'X'\n",
                            {134, LogSource::mpirun})) == "L20");
  CHECK(id_of(diagnose_text("    Exit_status = 271\n")) == "F35");
  CHECK(id_of(diagnose_text("    Exit_status = -29\n")) == "F26");
  CHECK(id_of(diagnose_text("   JobState=FAILED ExitCode=0:9\n")) == "E1");
  CHECK(diagnose_text("   JobState=COMPLETED ExitCode=0:0\n").verdict == Verdict::no_trouble);
}

TEST_CASE("the first failing rank and its host are named") {
  struct Row {
    std::string text;
    int rank;
    const char* host;
  };
  const Row rows[] = {
      {"mpirun noticed that process rank 5 with PID 9 on node n2 exited on signal 6 (Aborted).\n", 5, "n2"},
      {"[n7:1] MCW rank 3 bound to socket 0[core 0[hwt 0]]: [B/.]\n[1,3]<stderr>:ValueError: bad batch\n"
       "[1,0]<stderr>:ValueError: later\n",
       3, "n7"},
      {"The first process to do so was:\n\n  Process name: [[31,1],2]\n  Exit code:    7\n", 2, ""},
      {"srun: error: n4: task 6: Segmentation fault\nsrun: error: n5: task 7: Killed\n", 6, "n4"},
      {"MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 3.\n", 1, ""},
      {"Root Cause (first observed failure):\n[0]:\n  time      : 2023\n  host      : g1\n  rank      : 3 "
       "(local_rank: 3)\n"
       "  exitcode  : 1 (pid: 1)\n",
       3, "g1"},
      {"=   RANK 2 PID 77 RUNNING AT n9\n=   KILLED BY SIGNAL: 9 (Killed)\n", 2, "n9"},
      {"[1,4]<stderr>:ddl-train: error: no such net\n[1,4]<stderr>:  try: ddl-train --net mlp\n", 4, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text(row.text);
    REQUIRE(diagnosis.first_failing);
    CHECK(diagnosis.first_failing->place.rank.value_or(9999) == static_cast<unsigned>(row.rank));
    CHECK(diagnosis.first_failing->place.host == row.host);
    CHECK(exit_code(diagnosis) == 1);
  }
  const auto named =
      with_hosts(diagnose_text(rows[7].text), [](std::uint32_t rank) { return "h" + std::to_string(rank); });
  CHECK(named.first_failing->place.host == "h4");
}

TEST_CASE("fields of a message belong to the rank that printed it") {
  const Diagnosis diagnosis = diagnose_text(
      "[1,0]<stderr>:WARNING: Open MPI failed to TCP connect to a peer MPI process via\n"
      "[1,1]<stderr>:  Local host: wrong\n"
      "[1,0]<stderr>:  Local host: right\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->place.host == "right");
  CHECK(diagnosis.cause->place.rank == 0u);
}

TEST_CASE("of several logs the earliest time stamp decides, else their order") {
  const std::string late = "2026-11-21T06:00:09 ssh: connect to host h8 port 22: Connection timed out\n";
  const std::string early = "2026-11-21T06:00:01 Host key verification failed.\n";
  CHECK(id_of(diagnose_logs({{"a", late}, {"b", early}})) == "C3");
  CHECK(id_of(diagnose_logs({{"a", late.substr(20)}, {"b", early}})) == "C6");
  const Diagnosis stamped = diagnose_logs({{"rank.0.log", "2026-11-21 06:00:09 ValueError: late\n"},
                                           {"rank.1.log", "2026-11-21 06:00:01 KeyError: early\n"}});
  REQUIRE(stamped.first_failing);
  CHECK(stamped.first_failing->place.rank == 1u);
  const Diagnosis ranks =
      diagnose_logs({{"out/1/rank.0/stderr", "ok\n"}, {"out/1/rank.3/stderr", "Illegal instruction\n"}});
  REQUIRE(ranks.first_failing);
  CHECK(ranks.first_failing->place.rank == 3u);
  CHECK(ranks.first_failing->evidence.source == "out/1/rank.3/stderr");
  CHECK(ranks.first_failing->evidence.line == 1);
}

TEST_CASE("an unknown log lists its most likely error lines") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "step " + std::to_string(i) + " loss 2.3\n";
  text +=
      "WARNING: something failed, ignored\nstack of the solver:\n  module \"t\", line "
      "3\nERROR: division by zero\n";
  const Diagnosis diagnosis = diagnose_text(text);
  CHECK(diagnosis.verdict == Verdict::likely_cause);
  REQUIRE(diagnosis.salient_lines.size() >= 2);
  CHECK(diagnosis.salient_lines.back().text == "ERROR: division by zero");
  CHECK(diagnosis.salient_lines.back().line == 1004);
  // What was said last before the launcher spoke counts too, in whatever words.
  const Diagnosis quiet =
      diagnose_text("step 1\n[1,1]<stderr>:oops, no data here\n" + std::string(74, '-') + "\n" + secondary);
  REQUIRE(!quiet.salient_lines.empty());
  CHECK(quiet.salient_lines.back().text == "oops, no data here");
  CHECK(render_diagnosis(diagnosis).starts_with("most likely: ERROR: division by zero ["));
  CHECK(render_diagnosis(quiet).starts_with("cause: unknown: "));
}

TEST_CASE("the remedy for untagged lines uses the launcher of the run") {
  const std::string trace = "Traceback (most recent call last):\nKeyError: 'x'\n";
  struct Row {
    std::string text;
    RunStatus end;
    const char* words;
  };
  const Row rows[] = {{trace, {1, LogSource::mpirun}, "mpirun --tag-output ..."},
                      {trace + "srun: error: n4: task 2: Exited with exit code 1\n", {}, "srun --label ..."},
                      {trace, {1, LogSource::unknown, true}, "ddlrun launch --rank-output prefix ..."},
                      {trace, {1, LogSource::mpirun, true}, "ddlrun launch --rank-output prefix ..."}};
  for (const Row& row : rows) {
    CAPTURE(row.words);
    const Diagnosis diagnosis = diagnose_text(row.text, row.end);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->id == "E24");
    CHECK(diagnosis.cause->remedies.back().starts_with(row.words));
  }
}

TEST_CASE("no remedy requests information that the log already contains") {
  struct Row {
    std::string text;
    RunStatus end;
    const char* has;
    const char* has_not;
  };
  const std::string end = std::string(74, '-') +
                          "\nmpirun detected that one or more processes exited with non-zero status, thus "
                          "causing\nthe job to be terminated. The first process to do so was:\n\n  Process "
                          "name: [[9,1],2]\n  Exit code:    1\n";
  const Row rows[] = {
      {"step 1\n" + end, {}, "its own output may show the reason", "xx"},
      {"ERROR: bad batch\n" + end, {}, "ERROR: bad batch", "mpirun detected"},
      {"ERROR: bad batch\n" + end, {}, "mpirun --tag-output", "its own output"},
      {"[1,2]<stderr>:ERROR: bad batch\n" + end, {}, "ERROR: bad batch", "--tag-output"},
      {"ERROR: bad batch\nsrun: error: n4: task 2: Exited with exit code 1\n",
       {},
       "srun --label",
       "--tag-output"},
      {"2: ERROR: bad batch\nsrun: error: n4: task 2: Exited with exit code 1\n", {}, "bad batch", "--label"},
      {"frobnicator 17 exploded: zork error\n", {}, "no known failure in 1 line\n", "no trouble"},
      {"frobnicator 17 exploded: zork error\n", {}, "--status N", "1 lines"},
      {"cannot open the thing\nstep 2\n", {}, "log:1: cannot open the thing", "no trouble"},
      {"step 1\nstep 2\n", {0, LogSource::unknown}, "no trouble found in 2 lines", "--status"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const std::string report = render_diagnosis(diagnose_text(row.text, row.end));
    CAPTURE(report);
    CHECK(report.find(row.has) != std::string::npos);
    CHECK(report.find(row.has_not) == std::string::npos);
  }
}

TEST_CASE("a remedy fits the failure in the log, not a similar one") {
  struct Row {
    std::string text;
    const char* id;
    const char* has;
    const char* has_not;
  };
  const std::string unreachable =
      "At least one pair of MPI processes are unable to reach each other for\n"
      "  Process 1 ([[9,1],0]) is on host: n1\n  BTLs attempted: self\n";
  const std::string program =
      "mpirun was unable to find the specified executable file, and therefore\ndid not launch the job.\n\n"
      "Executable: ./nop\nNode: n1\n";
  const Row rows[] = {
      {unreachable, "X1", "--mca btl tcp,vader,self", "NAME"},
      {unreachable, "X1", "Without tcp there: --mca btl leaves tcp out, or btl_tcp_if_include", "NAME"},
      {unreachable, "X1", "BTLs attempted: self", "NAME"},
      {"ssh: connect to host h8 port 23: Connection refused\n", "X47", "h8 is up", "ping"},
      {"ssh: connect to host h8 port 22: Connection timed out\n", "C6", "ping -c 1 h8", "PORT"},
      {program, "C22", "mpirun -n 1 -H n1 ls -l ./nop ", "ssh n1 ls"},
      {"ModuleNotFoundError: No module named 'nomod'\n", "X48", "missing: nomod [X48]", "NAME"},
      {"FileNotFoundError: [Errno 2] No such file or directory: '/d/x'\n", "X50", "ls -ld /d/x ", "NAME"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text(row.text);
    const std::string report = render_diagnosis(diagnosis);
    CAPTURE(report);
    CHECK(id_of(diagnosis) == row.id);
    CHECK(report.find(row.has) != std::string::npos);
    CHECK(report.find(row.has_not) == std::string::npos);
  }
}

TEST_CASE("escapes, carriage returns and colours do not hide a text") {
  CHECK(id_of(diagnose_text("\x1b[31mHost key \x1b[1mverification failed.\x1b[0m\r\n")) == "C3");
  CHECK(id_of(diagnose_text(" 10%|#   |\r 20%|##  |\rHost key verification failed.\n")) == "C3");
  CHECK(id_of(diagnose_text("Host key verification failed.")) == "C3");
  const std::string after_nul =
      std::string(1, '\0') +
      "[n2:1035:0] ib_iface.c:964  UCX  ERROR ibv_create_cq() failed: Cannot allocate "
      "memory. Please set max locked memory (ulimit -l) to 'unlimited'\n";
  CHECK(diagnose_text(after_nul).cause->place.host == "n2");
}

TEST_CASE("a diagnosis does not depend on how the log is cut into portions") {
  std::string text;
  const auto examples = ddlrun::tests::read_examples();
  for (std::size_t i = 0; i < examples.size(); i += ddlrun::testing::with_asan ? 7 : 1)
    text += examples[i].text + "step 1\n";
  text += std::string(300'000, 'x') + " Host key verification failed. " + std::string(70'000, 'y') +
          "\nlast line\n";
  const std::string whole = render_diagnosis_json(diagnose_text(text));
  std::mt19937_64 random(3);
  for (int round = 0; round < (ddlrun::testing::with_asan ? 2 : 4); ++round) {
    LogAnalysis analysis(builtin_signatures());
    analysis.begin_source("log");
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = 1 + random() % (round % 2 == 0 ? 100 : 400'000);
      analysis.take(std::string_view(text).substr(at, length));
      at += length;
    }
    analysis.end_source();
    CHECK(render_diagnosis_json(analysis.diagnosis({})) == whole);
  }
}

TEST_CASE("a text in a line of any length is found") {
  for (const std::size_t before : {std::size_t{0}, std::size_t{65'500}, std::size_t{65'536},
                                   std::size_t{64'512}, std::size_t{5'000'000}}) {
    CAPTURE(before);
    CHECK(id_of(diagnose_text(std::string(before, 'x') + "Host key verification failed." +
                              std::string(100'000, 'z'))) == "C3");
  }
}

TEST_CASE("a text where a long line is cut counts once") {
  const std::string anchor = "Host key verification failed.";
  const Diagnosis diagnosis =
      diagnose_text(anchor + "\n" + std::string(64'600, 'x') + anchor + std::string(100'000, 'z') + "\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->count == 2);
}

TEST_CASE("mutated logs are diagnosed without a crash and shown without control bytes") {
  const auto examples = ddlrun::tests::read_examples();
  const auto rounds = ddlrun::tests::mutation_rounds(20'000);
  LogAnalysis shared(builtin_signatures());
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::string text = ddlrun::tests::mutate(
        examples[i % examples.size()].text + examples[(i * 7) % examples.size()].text, i);
    shared.begin_source("log");
    shared.take(text);
    shared.end_source();
    if (i % 50 != 0) continue;
    const Diagnosis diagnosis = diagnose_text(text);
    CAPTURE(text);
    CHECK(is_clean(render_diagnosis(diagnosis)));
    CHECK(is_clean(render_diagnosis_json(diagnosis)));
  }
  CHECK(is_clean(render_diagnosis(shared.diagnosis({}))));
}

TEST_CASE("a running program is analysed in bounded memory") {
  StreamAnalyzer watch;
  for (int i = 0; i < 200'000; ++i) watch.take("[1,0]<stdout>:step of the training, all is well\n");
  watch.take("[1,2]<std");
  watch.take("err>:ddl-train: error: no data\n  try: --data DIR\n");
  const Diagnosis diagnosis = watch.diagnosis({1, LogSource::mpirun});
  CHECK(id_of(diagnosis) == "O1");
  CHECK(diagnosis.cause->place.rank == 2u);
  CHECK(diagnosis.cause->title == "the trainer says: no data");
  CHECK(diagnosis.cause->remedies == std::vector<std::string>{"the message itself says: --data DIR"});
  CHECK(diagnosis.cause->evidence[0].line == 200'001);
}

TEST_CASE("a number before a line of a running program is a rank only up to the count of ranks") {
  for (const std::uint32_t ranks : {4U, 3U}) {
    StreamAnalyzer watch;
    watch.set_rank_count(ranks);
    watch.take("[3] RuntimeError: CUDA error: out of memory\n");
    const Diagnosis diagnosis = watch.diagnosis({1, LogSource::mpirun});
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->place.rank.has_value() == (ranks == 4));
  }
}

TEST_SUITE_END();
