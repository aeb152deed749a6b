// SPDX-License-Identifier: MIT
#include "doctor/diagnose/time_limit_cause.hpp"

#include "doctor/diagnose/log_analysis.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/time_limit_cause");

TEST_CASE("a crash while the time limit ends the job is a consequence, and mpirun's is no rank's") {
  const std::string limit =
      "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2024-01-02T03:04:05 DUE TO TIME LIMIT ***\n";
  const std::string crash =
      "[n1:04711] *** Process received signal ***\n[n1:04711] Signal: Segmentation fault (11)\n"
      "[n1:04711] [ 1] /lib/x86_64-linux-gnu/libpmix.so.2(PMIx_Finalize+0x3a2)[0x7f2b6e1a3c02]\n";
  const std::string of_mpirun = "[n1:04711] [ 2] mpirun(+0x13b9)[0x55d0a8d6d3b9]\n",
                    of_rank = "[n1:04711] [ 2] ./solve(main+0x13)[0x55d0a8d6d3b9]\n";
  struct Row {
    std::string text, cause, crash;
    SignatureClass kind;
  };
  for (const Row& row : {Row{limit + crash + of_mpirun, "F15", "E40", SignatureClass::secondary},
                         Row{limit + crash + of_rank, "F15", "E2", SignatureClass::secondary},
                         Row{crash + of_mpirun, "E40", "", SignatureClass::primary}}) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text("step 1\n" + row.text, {143, LogSource::slurm});
    REQUIRE(diagnosis.cause.has_value());
    CHECK(diagnosis.cause->id == row.cause);
    std::vector<std::string> crashes;
    for (const Finding& finding : diagnosis.also_seen) {
      if (!finding.id.starts_with('E')) continue;
      crashes.push_back(finding.id);
      CHECK(finding.kind == row.kind);
    }
    CHECK(crashes == (row.crash.empty() ? std::vector<std::string>{} : std::vector{row.crash}));
  }
}

TEST_CASE("a job that waits until its time limit ends because it waits") {
  const std::string note =
      "ddlrun: note: rank 1 on n2 has used almost no CPU time and moved no bytes for 60 s, nor have the "
      "other 3: "
      "process 77 (solve) sleeps in poll\n";
  const std::string partial =
      "ddlrun: note: rank 1 on n2 has used almost no CPU time and moved no bytes for 17 s, while 1 of 4 "
      "ranks go on: "
      "process 1771 (python3) sleeps in wait_woken\n  at:  n2\n  try: py-spy dump --pid 1771   # if it "
      "should be working\n";
  const std::string together =
      "ddlrun: note: all 4 ranks have used almost no CPU time and moved no bytes for 50 s: process 813 "
      "(train) of "
      "rank 0 on h1 sleeps in futex_wait\n";
  const std::string limit =
      "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2024-01-02T03:04:05 DUE TO TIME LIMIT ***\n";
  std::string output;
  for (int step = 0; step < 40; ++step) output += "step " + std::to_string(step) + "\n";
  const std::string advice = "  at:  h1\n  try: py-spy dump --pid 813   # if it should be working\n",
                    going_on = "ddlrun: ranks 0-3 go on after 70 s\n",
                    ended = "ddlrun: the job is ended, as --on-stall end asks\n";
  const std::string epochs = "epoch 62 lr 0.05 loss 0.000000\nepoch 63 lr 0.05 loss 0.000000\n";
  struct Row {
    std::string text, id;
    std::optional<int> status;
  };
  const Row rows[] = {
      {note + limit, "O8", {}},
      {note + output + note + limit, "O8", {}},
      {together + limit, "O8", {}},
      {partial + partial + limit, "O18", {}},
      {"step 1\nddlrun: note: rank 2 on n4 has used CPU time and moved no bytes for 50 s, while the other 3 "
       "wait "
       "for it, as it seems: process 77 (python3) runs python3.11\n" +
           limit,
       "O33",
       {}},
      {partial + output + limit, "F15", {}},
      {partial + partial + note + limit, "O8", {}},
      {note + "=>> PBS: job killed: walltime 86489 exceeded limit 86400\n", "O8", {}},
      {note, "O8", 124},
      {note, "", {}},
      {note + output + limit, "F15", {}},
      {limit, "F15", {}},
      {together + advice + epochs + limit, "F15", {}},
      {together + advice + going_on + limit, "F15", {}},
      {partial + epochs + limit, "F15", {}},
      {together + advice + "Traceback (most recent call last):\n" + limit, "O8", {}},
      {together + advice + epochs + together + advice + limit, "O8", {}},
      {together + advice + ended + epochs, "O8", 124},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text("step 1\n" + row.text, {row.status, LogSource::unknown});
    CHECK((diagnosis.cause ? diagnosis.cause->id : "") == row.id);
  }
}

namespace {

const std::string pbs_limit = "=>> PBS: job killed: walltime 125 exceeded limit 120\n";
const std::string spin_note =
    "ddlrun: note: rank 0 on n1 has moved no bytes for 54 s, nor have the other 3: process 930 (python3) "
    "waits "
    "at full speed in libopen-pal.so.40.30.2\n";

std::string traceback() {
  return "epoch 1 loss 0.5\nTraceback (most recent call last):\n  File \"train.py\", line 18, in <module>\n"
         "    print(labels[5])\nIndexError: list index out of range\n";
}

bool has_remedy(const Diagnosis& diagnosis, const std::string& text) {
  const auto& remedies = diagnosis.cause->remedies;
  return std::any_of(remedies.begin(), remedies.end(),
                     [&](const std::string& remedy) { return remedy.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("one rank fails and the others wait for it until the time limit") {
  const std::string slurm_limit =
      "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-02T03:04:05 DUE TO TIME LIMIT ***\n";
  for (const std::string& end :
       {spin_note + pbs_limit, "from mpi4py import MPI: error\n" + pbs_limit, spin_note + slurm_limit}) {
    CAPTURE(end);
    const Diagnosis diagnosis = diagnose_text(traceback() + end);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->title == "IndexError: list index out of range (train.py:18)");
    CHECK(has_remedy(diagnosis, "python3 -m mpi4py"));
  }
}

TEST_CASE("the scheduler's message in a log of its own does not hide the exception in the other") {
  const auto diagnose_both = [](const std::string& output) {
    LogAnalysis analysis(builtin_signatures());
    for (const auto& [name, text] : {std::pair<std::string, std::string>{"output.log", output},
                                     std::pair<std::string, std::string>{"scheduler.log", pbs_limit}}) {
      analysis.begin_source(name);
      analysis.take(text);
      analysis.end_source();
    }
    return analysis.diagnosis({143, LogSource::pbs});
  };
  const Diagnosis failed = diagnose_both(traceback() + spin_note);
  REQUIRE(failed.cause);
  CHECK(failed.cause->id == "E24");
  CHECK(has_remedy(failed, "python3 -m mpi4py"));
  std::string steps;
  for (int step = 0; step < 40; ++step) steps += "step " + std::to_string(step) + "\n";
  const Diagnosis slow = diagnose_both(steps);
  REQUIRE(slow.cause);
  CHECK(slow.cause->id == "F26");
}

TEST_CASE("an error in words just before the limit") {
  const std::string error =
      "GSL Error 11 (exceeded max number of iterations): gsl_sf_gamma_inc_e(a, x) at g.c:720\n";
  const Diagnosis failed = diagnose_text("step 1\n" + error + pbs_limit);
  REQUIRE(failed.cause);
  CHECK(failed.verdict == Verdict::likely_cause);
  CHECK(failed.cause->title.starts_with("GSL Error 11"));
  std::string steps;
  for (int step = 0; step < 10; ++step) steps += "step " + std::to_string(step) + "\n";
  const Diagnosis slow = diagnose_text("step 1\n" + error + steps + pbs_limit);
  REQUIRE(slow.cause);
  CHECK(slow.cause->id == "F26");
}

TEST_CASE(
    "where a process could not make its threads, the others wait until the limit, whatever they print") {
  const std::string threads = "\nlibgomp: Thread creation failed: Resource temporarily unavailable\n";
  const std::string blas =
      "OpenBLAS blas_thread_init: pthread_create failed for thread 41 of 64: Resource temporarily "
      "unavailable\n"
      "OpenBLAS blas_thread_init: RLIMIT_NPROC 4096 current, 4127956 max\n";
  const std::string limit =
      "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-05-01T22:17:05 DUE TO TIME LIMIT ***\n";
  std::string output;
  for (int step = 10; step < 59; ++step)
    output += "2024-05-01 10:00:" + std::to_string(step) + " step " + std::to_string(step) + "\n";
  struct Row {
    std::string text, id;
  };
  const Row rows[] = {
      {threads + output + limit, "E27"},
      {blas + output + limit, "R35"},
      {threads + output + "2024-05-01 22:17:01 step 60\n" + limit, "F15"},
      {output + limit, "F45"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text("2024-05-01 10:00:05 start\n" + row.text);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->id == row.id);
    CHECK(!diagnosis.cause->is_survived);
    CHECK(diagnosis.cause->remedies.front().find("mpi4py") == std::string::npos);
  }
}

TEST_CASE("a run that a time limit ended without an error: its last line, and how to look into it") {
  const RunStatus limit{124, LogSource::unknown};
  const Diagnosis hang = diagnose_text("rank 0: step 1 done\nrank 1: step 1 done\n", limit);
  REQUIRE(hang.cause);
  CHECK(hang.cause->id == "F47");
  CHECK(hang.cause->title.ends_with("its last sign of life: rank 1: step 1 done"));
  CHECK(hang.cause->remedies.front().starts_with("ddlrun launch --stall-timeout 60 "));
  CHECK(render_diagnosis(hang).find("most likely error lines") == std::string::npos);
  const Diagnosis failed = diagnose_text("step 1 done\nERROR: cannot open mesh.h5\n", limit);
  REQUIRE(failed.cause);
  CHECK(failed.cause->id != "F47");
}

TEST_SUITE_END();
