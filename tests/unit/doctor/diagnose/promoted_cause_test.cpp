// SPDX-License-Identifier: MIT
#include "doctor/diagnose/promoted_cause.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/promoted_cause");

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

TEST_CASE("a job that prints nothing for long before its time limit stands still") {
  const std::string limit =
      "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-05-01T22:17:05 DUE TO TIME LIMIT ***\n";
  const auto steps = [](const char* last) {
    return "2024-05-01 10:00:00 step 1\n2024-05-01 10:01:00 step 2\n" + std::string(last) + " step 3\n";
  };
  struct Row {
    std::string text, id;
  };
  const Row rows[] = {
      {steps("2024-05-01 10:02:00") + limit, "F45"},
      {steps("2024-05-01 22:16:58") + limit, "F15"},
      {"Initializing distributed: rank 0 of 4\n" + limit, "F45"},
      {"step 3\n" + limit, "F15"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text(row.text);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->id == row.id);
  }
  const Diagnosis still = diagnose_text(rows[0].text);
  CHECK(still.cause->title ==
        "the job stands still until its time limit: no output for 12 h 15 min before it");
}

TEST_CASE("a refused connection after a rank exits by itself is a consequence") {
  const std::string tcp =
      "WARNING: Open MPI failed to TCP connect to a peer MPI process.  This\nshould not happen.\n\n"
      "  Local host: n1\n  Message:    connect() to 10.0.0.4:1024 failed\n  Error:      ";
  const std::string exit =
      "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
      "the job to be terminated. The first process to do so was:\n\n"
      "  Process name: [[77,1],3]\n  Exit code:    3\n";
  const Diagnosis refused =
      diagnose_text("rank 3: nothing to do\n" + tcp + "Connection refused (111)\n" + exit);
  CHECK(!refused.cause);
  CHECK(refused.verdict == Verdict::unknown);
  const Diagnosis unreachable =
      diagnose_text("rank 3: nothing to do\n" + tcp + "No route to host (113)\n" + exit);
  REQUIRE(unreachable.cause);
  CHECK(unreachable.cause->id == "D2");
}

TEST_CASE("an error in words before a launcher kills the other ranks is the cause") {
  const std::string killed =
      "mpirun noticed that process rank 0 with PID 0 on node n3 exited on signal 9 (Killed).\n";
  const Diagnosis diagnosis = diagnose_text("ERROR: nz must be a multiple of the ranks\nSTOP 2\n" + killed);
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title == "ERROR: nz must be a multiple of the ranks");
  const Diagnosis alone = diagnose_text("step 7\n" + killed);
  REQUIRE(alone.cause);
  CHECK(alone.cause->id == "E1");
}

TEST_CASE("a module of Python is missing where conda is not set up") {
  const Diagnosis diagnosis = diagnose_text(
      "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'.\n"
      "Traceback (most recent call last):\n  File \"fit.py\", line 3, in <module>\n    import torch\n"
      "ModuleNotFoundError: No module named 'torch'\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "J72");
}

TEST_CASE("a missing module command is not the cause of what another text explains") {
  const std::string module = "/var/spool/slurmd/job7/slurm_script: line 9: module: command not found\n";
  const Diagnosis pmi =
      diagnose_text(module +
                    "The application appears to have been direct launched using \"srun\",\n"
                    "but OMPI was not built with SLURM's PMI support and therefore cannot\nexecute.\n");
  REQUIRE(pmi.cause);
  CHECK(pmi.cause->id == "X21");
  const Diagnosis alone = diagnose_text(module);
  REQUIRE(alone.cause);
  CHECK(alone.cause->id == "X43");
}

TEST_CASE("of several runs in one log the last one counts, where a person ended it") {
  const std::string failed =
      "Traceback (most recent call last):\n  File \"fit.py\", line 8, in <module>\nValueError: no split val\n"
      "slurmstepd: error: *** JOB 6 ON n1 CANCELLED AT 2024-01-02T02:04:05 ***\n";
  const std::string cancelled = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-02T03:04:05 ***\n";
  std::string noise;  // TensorFlow's warnings with the word error are no trouble
  for (int step = 0; step < 250; ++step)
    noise += "W0000 00:00:1.5 13 op_level_cost_estimator.cc:699] Error in PredictCost() for the op: " +
             std::to_string(step) + "\n";
  const Diagnosis last = diagnose_text(failed + noise + cancelled);
  REQUIRE(last.cause);
  CHECK(last.cause->id == "F37");
  CHECK(last.cause->evidence.front().line == 255);
  const Diagnosis first = diagnose_text(failed + noise.substr(0, 500) + cancelled);
  REQUIRE(first.cause);
  CHECK(first.cause->title == "ValueError: no split val (fit.py:8)");
}

TEST_CASE("what the job goes on without is not the cause of a later failure") {
  const auto steps = [](int count) {
    std::string text;
    for (int step = 0; step < count; ++step) text += "step " + std::to_string(step) + " loss 0.3\n";
    return text;
  };
  const std::string venv = "job.sh: line 7: venv/bin/activate: No such file or directory\n";
  const std::string program = "job.sh: line 7: ./prepare: No such file or directory\n";
  const std::string configure =
      "./configure: line 2912: PKG_PROG: command not found\nchecking for gcc... gcc\n";
  const std::string status =
      "slurm_load_jobs error: Zero Bytes were transmitted or received\n"
      "squeue: error: slurm_unpack_received_msg: Protocol authentication error\n";
  const std::string mesh = "solver: error: the mesh has no cells\n";
  const std::string no_memory =
      "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n";
  const std::string cancelled = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-02T03:04:05 ***\n";
  struct Row {
    std::string text, id;
  };
  const Row rows[] = {
      {venv + steps(40) + mesh, "L20"},
      {venv + steps(40) + cancelled, "F37"},
      {venv + steps(3) + mesh, "J100"},
      {program + steps(40) + mesh, "J92"},
      {configure + steps(2) + mesh, "L20"},
      {configure, "E23"},
      {status + steps(2) + no_memory, "E22"},
      {status + steps(2) + mesh, "L20"},
      {status, "Y98"},
      {"srun: error: Unable to allocate resources: Protocol authentication error\n" + mesh, "Y98"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text(row.text);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->id == row.id);
  }
}

// As Open MPI 4.1.4 and ddl-train print it after kill -9 of rank 1, without the report of launch.
TEST_CASE("how the first rank ended, as launch reports it, precedes what mpirun and other ranks noticed") {
  const std::string log =
      "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\nwith errorcode 3.\n\n"
      "ddl-train: error: [rank 0 n1] rank 1 (n1) ended before it came to all_reduce #137 of 4 float32\n"
      "  at:  rank 1 (n1)\n"
      "libddl: rank 0 (n1) called abort: all ranks end with status 3\n"
      "mpirun noticed that process rank 1 with PID 0 on node n1 exited on signal 9 (Killed).\n";
  const std::string report =
      "ddlrun: rank 1 on n1 failed first: it was ended by signal 9 (SIGKILL), status 137\n"
      "ddlrun: the job ended by signal 9 (status 137); run directory /runs/r\n";
  const Diagnosis unreported = diagnose_text(log);
  REQUIRE(unreported.cause);
  CHECK(unreported.cause->id == "O5");
  const Diagnosis reported = diagnose_text(log + report);
  REQUIRE(reported.cause);
  CHECK(reported.cause->id == "E1");
  CHECK(reported.cause->place.rank == 1u);
  REQUIRE(reported.first_failing);
  CHECK(reported.first_failing->place.rank == 1u);
  CHECK(reported.first_failing->how == "signal 9 (SIGKILL)");
}

TEST_SUITE_END();
