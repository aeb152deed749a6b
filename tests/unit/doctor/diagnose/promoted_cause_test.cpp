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

TEST_SUITE_END();
