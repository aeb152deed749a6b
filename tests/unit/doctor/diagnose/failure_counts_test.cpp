// SPDX-License-Identifier: MIT
#include "doctor/diagnose/failure_counts.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/failure_counts");

TEST_CASE("a count of zero is no failure") {
  // As ctest, rsync, unittest, a compiler and a Monte Carlo program print them.
  for (const char* line :
       {"100% tests passed, 0 tests failed out of 2", "rsync: 0 files failed", "Number of failed steps: 0",
        "Backup complete: 0 errors", "0 failures", "finished with 0 errors", "errors=0, failures=0",
        "killed 0 walkers, aborted 0 moves, fatal 0"}) {
    CAPTURE(line);
    CHECK(counts_no_failure(line));
    CHECK(exit_code(diagnose_text("start\n" + std::string(line) + "\n")) == 0);
  }
  for (const char* line :
       {"rank 0 failed", "98% tests passed, 1 tests failed out of 50", "GPU 0 failed", "ERROR: 0 GPUs found",
        "Error: 0:own: cannot read", "Errors: 0, Failures: 2", "10 files failed", "CUDA error 0", "failed"}) {
    CAPTURE(line);
    CHECK_FALSE(counts_no_failure(line));
  }
}

TEST_CASE("the head of a table is no failure") {
  // As nccl-tests before 2.13, osu_latency and a residual monitor print them.
  for (const char* line : {"#       size         count    type   redop     time   algbw   busbw  error     "
                           "time   algbw   busbw  error",
                           "iter\ttime\tCFL (max)\tresidual\terror", "# rank  host  jobs  failed  seconds"}) {
    CAPTURE(line);
    CHECK(is_table_header(line));
    for (const std::string before : {"", "bench_1  | "}) {
      const std::string text = "# devices\n" + before + line + "\n";
      CHECK(exit_code(diagnose_text(text)) == 0);
    }
  }
  for (const char* line : {"error  in  routine", "srun: error:  task  1  launch  failed", "size  time  busbw",
                           "1  2  3  4  error: none left", "the job on host n1 failed",
                           "node01  FAILED  1  2  3", "conv1  FAILED  0  99.5 %  -4"}) {
    CAPTURE(line);
    CHECK_FALSE(is_table_header(line));
  }
}

TEST_CASE("a test that passed is no failure, whatever it tests") {
  CHECK(is_passed_test("ok 12 - handles segmentation fault"));
  CHECK(is_passed_test("test_failure_message (__main__.T.test_failure_message) ... ok"));
  CHECK_FALSE(is_passed_test("not ok 12 - handles segmentation fault"));
  CHECK_FALSE(is_passed_test("loading ... okay, Segmentation fault"));
  CHECK(exit_code(diagnose_text("1..2\nok 1 - starts\nok 2 - handles segmentation fault\n")) == 0);
  CHECK(exit_code(diagnose_text("1..1\nnot ok 1 - handles segmentation fault\n")) == 1);
}

TEST_CASE("the size of a numerical error is no failure") {
  for (const char* line : {"step 0 rms error 1", "step 19999 rms error 5e-05", "relative error: 3e-4",
                           "error norm 0.1", "test error 0.1", "top1 error rate 50.00%"}) {
    CAPTURE(line);
    CHECK(is_error_quantity(line));
  }
  for (const char* line : {"CUDA error 700", "error 12", "test error: the mesh is open", "MPI error 17"}) {
    CAPTURE(line);
    CHECK_FALSE(is_error_quantity(line));
  }
  std::string log;
  for (int step = 0; step < 200; ++step) log += "step " + std::to_string(step) + " rms error 1\n";
  CHECK(exit_code(diagnose_text(log)) == 0);
}

TEST_CASE("what a program sets up is no failure") {
  const std::string settings =
      "error-correcting codes enabled (ECC)\nAbort threshold: 5 failures\nfailed=0 ok=12 changed=3\n"
      "signal handler installed for SIGTERM, SIGSEGV\nOOM killer score adjusted to -500\nTimeout set to 3600 "
      "s\n"
      "Fatal error handler registered\n";
  CHECK(exit_code(diagnose_text(settings)) == 0);
  CHECK(exit_code(diagnose_text(settings + "all done\n")) == 0);
  // The line of the failure is the cause, with its own class.
  const Diagnosis failed = diagnose_text(settings + "Error: the mesh has no cells\n");
  REQUIRE(failed.cause);
  CHECK(failed.cause->title == "Error: the mesh has no cells");
  for (const char* line : {"Error: timeout set to 0 s", "killed: limit set to 4 GB",
                           "OOM killer ended python3", "failed: signal handler installed twice"}) {
    CAPTURE(line);
    CHECK_FALSE(states_setting(line));
  }
}

TEST_CASE("a test of pytest that passed is no failure, whatever its name is") {
  CHECK(is_passed_test("test_error.py::test_segfault PASSED                    [ 33%]"));
  CHECK(is_passed_test("test_error.py::test_segfault PASSED"));
  CHECK_FALSE(is_passed_test("test_error.py::test_segfault FAILED                    [ 33%]"));
  CHECK_FALSE(is_passed_test("error: module::name PASSED a null pointer"));
  CHECK(is_passed_summary("===== 3 passed, 1 skipped in 0.02s ====="));
  CHECK_FALSE(is_passed_summary("===== 1 failed, 2 passed in 0.02s ====="));
  CHECK_FALSE(is_passed_summary("===== 2 passed, 1 error in 0.02s ====="));
}

TEST_SUITE_END();
