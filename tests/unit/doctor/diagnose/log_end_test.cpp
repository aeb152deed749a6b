// SPDX-License-Identifier: MIT
#include "doctor/diagnose/log_end.hpp"

#include "doctor/diagnose/result_lines.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/log_end");

namespace {

const std::string adapter =
    "[1700000000.1] [n1:77:0] ib_log.c:246  UCX  ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate "
    "memory. Please "
    "set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)\n";
const std::string output = "# OSU MPI Latency Test\n# Size  Latency (us)\n1  0.23\n2  0.24\n";

}  // namespace

TEST_CASE("an adapter's error is a note where the run continues, and the cause where it does not") {
  struct Row {
    std::string text;
    Verdict verdict;
  };
  const Row rows[] = {
      {adapter, Verdict::cause_found},
      {adapter + output, Verdict::no_trouble},
      {output + adapter, Verdict::cause_found},
      {adapter + output + "Abort(77) on node 0 (rank 0 in comm 0): application aborts\n",
       Verdict::cause_found},
      {adapter + output + "mpirun noticed that process rank 1 with PID 5 on node n1 exited on signal 11\n",
       Verdict::cause_found},
      {adapter + "0x7f01 ucs_handle_error\n0x7f02 main\n0x7f03 _start\n", Verdict::cause_found},
      {"n1: the mlx5_0 port cannot be opened: Invalid argument\n" + output, Verdict::no_trouble},
      {"n1: the mlx5_0 port cannot be opened: Invalid argument\n", Verdict::likely_cause},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(diagnose_text(row.text).verdict == row.verdict);
  }
}

TEST_CASE("a line in words that looks bad counts only at the end of the log") {
  const std::string line = "stage 3 failed after all\n";
  CHECK(diagnose_text(output + line).verdict == Verdict::likely_cause);
  CHECK(diagnose_text(output + line).cause->title == "stage 3 failed after all");
  CHECK(diagnose_text(output + line + "summary follows\n" + output).verdict == Verdict::no_trouble);
  CHECK(diagnose_text(output + line, {0, LogSource::unknown}).verdict == Verdict::no_trouble);
}

TEST_CASE("a run that completes after an error in words is no failure") {
  const std::string steps = "the mesh is read\nthe solver begins\na table follows\nthe last lines\n";
  const std::string line = "sh: tool: command not found\n";
  CHECK(exit_code(diagnose_text(line + steps + "Training done in 49.8 seconds\nbye\n")) == 0);
  CHECK(exit_code(diagnose_text(line + steps)) == 1);
  CHECK(exit_code(diagnose_text(steps + line + "Training done\nbye\n")) == 1);
}

TEST_CASE("a run that ends with results after what looks bad is no failure") {
  const std::string results = "residual 1.2e-2\nresidual 3.1e-4\nresidual 2.8e-7\n";
  const std::string help =
      "[n1:77] 3 more processes have sent help message help-mpi-btl-openib.txt / ib port not selected\n"
      "[n1:77] Set MCA parameter \"orte_base_help_aggregate\" to 0 to see all help / error messages\n";
  const std::string ignored =
      "Exception ignored in: <function own at 0x7f>\nTraceback (most recent call last):\n"
      "  File \"t.py\", line 3, in __del__\n    self.close()\nOSError: [Errno 9] Bad file descriptor\n";
  const std::string of_script =
      "slurmstepd: error: couldn't chdir to `/scratch/me': No such file or directory: "
      "going to /tmp instead\n";
  const std::string killed = "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.\n";
  struct Row {
    std::string text;
    int status;
  };
  const Row rows[] = {
      {"[n1:7] [[5,0],0] ORTE_ERROR_LOG: Data for specified key not found in file util/show_help.c at line "
       "501\n" +
           results + help,
       0},
      {"rm: cannot remove 'core.*': No such file or directory\n" + results, 0},
      {"rm: cannot remove 'core.*': No such file or directory\n", 0},
      {"cat: core.txt: No such file or directory\n", 1},
      {of_script + results, 0},
      {of_script, 1},
      {ignored + results, 0},
      {"tool: error: cannot read the cache\n" + results, 0},
      {"tool: error: cannot read the cache\nhello from host n1\nhello from host n2\nhello from host n3\n", 0},
      {"tool: error: cannot read the cache\n" + results + "tool: error: no cache, ending\n", 1},
      {killed + results, 1},
      {"tool: error: cannot read the cache\nCPU Efficiency: 20.00% of 00:15\nMemory Utilized: 1.2 MB\n", 1},
      {results +
           "Traceback (most recent call last):\n  File \"t.py\", line 3, in main\n    f()\n"
           "ValueError: no data\n" +
           results,
       1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(exit_code(diagnose_text(row.text)) == row.status);
  }
}

TEST_CASE("what a program prints while it works") {
  for (const char* text : {"8        1.12", "step 20 loss 0.31", "epoch 3/10", "hello from rank 1 of 4",
                           "residual = 2.8e-7, 0.1 s", "12 3 4 5"}) {
    CAPTURE(std::string(text));
    CHECK(is_result(text));
  }
  for (const char* text :
       {"rank 0 of 1", "NVML library version: 570.124", "in file a/b.C at line 626", "Submitted batch job 77",
        "MPIR_Init(138)....:", "run ended", "Memory Efficiency: 0.02% of 8.00 GB", "main.cc:8 in main",
        "[ 1843.439669] NVRM: loading", "number of available slots when deciding"}) {
    CAPTURE(std::string(text));
    CHECK(!is_result(text));
  }
}

TEST_CASE("what libraries count or release at the end of a run is no failure") {
  const std::string results = "residual 1.2e-2\nresidual 3.1e-4\nresidual 2.8e-7\n";
  const std::string count =
      "[n1:77] 1 more process has sent help message help-mpi-btl-openib.txt / no active ports found\n";
  CHECK(exit_code(diagnose_text(results + count)) == 0);
  CHECK(exit_code(diagnose_text(count)) == 1);
  const std::string port = "n1:7:9 [0] ras/own.cc:15 NCCL WARN Call to bind failed: Address already in use\n";
  const std::string setup = "the ring is there\nrank 0 works\nrank 1 works\n";
  const std::string destroyed = "n1:7:9 [0] NCCL INFO comm 0x5f rank 0 nranks 2 - Destroy COMPLETE\n";
  CHECK(exit_code(diagnose_text(port + setup + "Sum = 3.0\n" + destroyed)) == 0);
}

TEST_CASE("the first line of a message whose other lines are missing still counts") {
  // The whole message of Open MPI is a signature; this one is cut.
  const std::string cut = "An ORTE daemon has unexpectedly failed after launch and before\n";
  CHECK(exit_code(diagnose_text("step 1\n" + cut)) == 1);
}

TEST_CASE("a traceback that the log cuts off is a failure") {
  const std::string cut =
      "Traceback (most recent call last):\n  File \"t.py\", line 3, in main\n    load()\n";
  CHECK(exit_code(diagnose_text("step 1\n" + cut)) == 1);
  CHECK(exit_code(diagnose_text("step 1\nstep 2\n")) == 0);
}

TEST_CASE("the table of a job that failed has its exit status") {
  const std::string table =
      "Job ID: 7\nUser/Group: me/own\nState: FAILED (exit code 3)\nCPU Utilized: 00:00:01\n";
  const Diagnosis diagnosis = diagnose_text("step 1\nstep 2\n" + table);
  CHECK(diagnosis.end.status == 3);
  CHECK(diagnosis.end.from == LogSource::slurm);
  CHECK(exit_code(diagnosis) == 1);
}

TEST_CASE("a log whose last line waits shows a hang") {
  const Diagnosis diagnosis = diagnose_text("start\nrank 0 is waiting for 3 other ranks\n");
  CHECK(diagnosis.verdict == Verdict::likely_cause);
  CHECK(exit_code(diagnose_text("rank 0 is waiting for 3 other ranks\nall ranks are there\nstep 1\n")) == 0);
}

TEST_CASE("a run that prints many lines after an error survives it") {
  const std::string error = "tool: error: cannot read the cache\n";
  std::string text = error;
  for (int step = 0; step < 80; ++step) text += "step " + std::to_string(step) + '\n';
  CHECK(exit_code(diagnose_text(text)) == 0);
  CHECK(exit_code(diagnose_text(error)) == 1);
}

TEST_CASE("a module that is missing is the failure only where little follows") {
  const std::string missing =
      "cmdModule.c(579):ERROR:50: the file of module own cannot be read\nsee the list of modules\n";
  CHECK(exit_code(diagnose_text(missing)) == 1);
  std::string text = missing;
  for (int step = 0; step < 30; ++step) text += "step " + std::to_string(step) + '\n';
  CHECK(exit_code(diagnose_text(text)) == 0);
}

TEST_CASE("what another process notices after a run, at the level of a warning, is no failure") {
  const std::string store =
      "[W620 22:24:25.1 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=63)\n";
  CHECK(exit_code(diagnose_text("epoch 1\naccuracy 0.9\n" + store)) == 0);
  CHECK(exit_code(diagnose_text("epoch 1\naccuracy 0.9\nn1: [rank1]:" + store)) == 0);
}

TEST_CASE("one bad line that the program recovers from is no failure where completion is the last line") {
  const std::string rebuilding = "Starting\nERROR: could not read cache, rebuilding\ncache rebuilt in 2 s\n";
  const std::string git = "fatal: repository '/nonexistent/x' does not exist\n";
  struct Row {
    std::string text;
    int status;
  };
  const Row rows[] = {
      {rebuilding + "finished\n", 0},
      {rebuilding + "Simulation completed successfully\n", 0},
      {git + "fallback to tarball: ok\n", 0},
      {git, 1},
      {git + "fallback to tarball failed\n", 1},
      {rebuilding, 1},
      // Nothing is done instead.
      {"Starting\nERROR: could not read the mesh\nfinished\n", 1},
      {"Starting\nERROR: connection lost, retrying\nfinished\n", 1},
      // A second bad line.
      {rebuilding + "ERROR: could not write the result\nfinished\n", 1},
      {"ERROR: no license\n" + rebuilding + "finished\n", 1},
      {rebuilding + "finished\nsrun: error: n1: task 3: Segmentation fault\n", 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(exit_code(diagnose_text(row.text)) == row.status);
  }
}

TEST_CASE("a log that ends with the verdict of tests that passed is no failure") {
  // As Python 3.11's unittest -v and pytest 7.2 -v print them.
  const std::string line = std::string(70, '-') + "\n";
  const std::string tests =
      "test_error_handling (__main__.T.test_error_handling) ... ok\n"
      "test_failed_login (__main__.T.test_failed_login) ... ERROR:root:login failed for user bob\nok\n\n" +
      line + "Ran 3 tests in 0.001s\n\n";
  const std::string pytest =
      "============================= test session starts ==============================\n"
      "collected 3 items\n\ntest_error.py::test_segfault PASSED                                      [ 33%]\n"
      "test_error.py::test_oom_killed PASSED                                    [ 66%]\n"
      "test_error.py::test_fatal_error ";
  CHECK(exit_code(diagnose_text(tests + "OK\n")) == 0);
  CHECK(exit_code(diagnose_text(tests + "OK (skipped=1)\n")) == 0);
  CHECK(exit_code(diagnose_text(tests + "FAILED (errors=1)\n")) == 1);
  const std::string passed =
      "============================== 3 passed in 0.02s ===============================\n";
  const std::string failed =
      "========================= 1 failed, 2 passed in 0.02s ==========================\n";
  CHECK(exit_code(diagnose_text(pytest + "PASSED         [100%]\n\n" + passed)) == 0);
  CHECK(exit_code(diagnose_text(pytest + "FAILED         [100%]\n\n" + failed)) == 1);
}
