// SPDX-License-Identifier: MIT
#include "doctor/diagnose/promoted_cause.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/promoted_cause");

TEST_CASE("a job that waits until its time limit ends because it waits") {
  const std::string note =
      "ddlrun: note: rank 1 on n2 has used almost no CPU time and moved no bytes for 60 s, nor have the "
      "other 3: "
      "process 77 (solve) sleeps in poll\n";
  const std::string limit =
      "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2024-01-02T03:04:05 DUE TO TIME LIMIT ***\n";
  std::string output;
  for (int step = 0; step < 40; ++step) output += "step " + std::to_string(step) + "\n";
  struct Row {
    std::string text, id;
    std::optional<int> status;
  };
  const Row rows[] = {
      {note + limit, "O8", {}},
      {note + "=>> PBS: job killed: walltime 86489 exceeded limit 86400\n", "O8", {}},
      {note, "O8", 124},
      {note, "", {}},
      {note + output + limit, "F15", {}},
      {limit, "F15", {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text("step 1\n" + row.text, {row.status, LogSource::unknown});
    CHECK((diagnosis.cause ? diagnosis.cause->id : "") == row.id);
  }
}

TEST_CASE("a program that is not there was not compiled") {
  const std::string error = "solve.c:40:19: error: 'number' undeclared (first use in this function)\n";
  const std::string missing =
      "[proxy:0:0@n1] HYDU_create_process (utils/launch.c:74): execvp error on file ./solve (No such file or "
      "directory)\n";
  const Diagnosis both = diagnose_text(error + missing);
  REQUIRE(both.cause);
  CHECK(both.cause->id == compiler_id);
  CHECK(both.cause->title == "solve.c:40:19: error: 'number' undeclared (first use in this function)");
  CHECK(both.verdict == Verdict::likely_cause);
  const Diagnosis alone = diagnose_text("solve: warning: 3 steps\n" + missing);
  REQUIRE(alone.cause);
  CHECK(alone.cause->id == "M8");
  const Diagnosis after = diagnose_text(missing + error);
  REQUIRE(after.cause);
  CHECK(after.cause->id == "M8");
}

TEST_CASE("a program that is not there: its compiler or its environment failed before") {
  const std::string missing = "slurmstepd: error: execve(): ./heat: No such file or directory\n";
  struct Row {
    std::string before, id;
  };
  const Row rows[] = {
      {"gcc: error: heat.c: No such file or directory\n", "L30"},
      {"/var/spool/job7/slurm_script: line 4: ../tools/activate_env.sh: No such file or directory\n", "J92"},
      {"/var/spool/job7/slurm_script: line 4: ./count: No such file or directory\n", "F20"},
      {"", "F20"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.before);
    const Diagnosis diagnosis = diagnose_text(row.before + missing);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->id == row.id);
  }
}

TEST_CASE("a crash just after an error is its consequence") {
  const std::string crash = "[n1:00077] Signal: Segmentation fault (11)\n";
  const std::string refused =
      "[n1:77] *** An error occurred in MPI_Waitall\n"
      "[n1:77] *** MPI_ERR_REQUEST: invalid request\n";
  const std::string ucx = "[1700000000.1] [n1:77:0] own_md.c:9  UCX  ERROR the key cannot be unpacked\n";
  std::string output;
  for (int step = 0; step < 20; ++step) output += "step " + std::to_string(step) + "\n";
  struct Row {
    std::string text, id;
  };
  const Row rows[] = {
      {refused + crash, "E25"},
      {crash + refused, "E2"},
      {ucx + crash, "L4"},
      {ucx + output + crash, "E2"},
      {crash + ucx, "E2"},
      {crash, "E2"},
      {"a.c:7: double free or corruption\n" + crash, "E2"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text("step 1\n" + row.text);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->id == row.id);
  }
}

TEST_CASE("before a call of MPI_Abort a line in words that are less sure is the likely cause") {
  const std::string abort = "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\n";
  const Diagnosis diagnosis = diagnose_text("the entry own is undefined in table b\n[2]\n" + abort);
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title == "the entry own is undefined in table b");
  CHECK(diagnosis.verdict == Verdict::likely_cause);
  const Diagnosis alone = diagnose_text("step 1\n" + abort);
  REQUIRE(alone.cause);
  CHECK(alone.cause->id == "E26");
}

TEST_SUITE_END();
