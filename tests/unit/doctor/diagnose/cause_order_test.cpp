// SPDX-License-Identifier: MIT
// Which of several messages of a log is the cause, and how its title and first remedy are made.
#include "doctor/diagnose/diagnosis.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

namespace {

std::string id_of_cause(const Diagnosis& diagnosis) { return diagnosis.cause ? diagnosis.cause->id : "none"; }

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/cause_order");

TEST_CASE("a log that ends in NUL bytes was cut off") {
  const std::string text = "energy 1.5 2.5\nenergy 1.4 ";
  CHECK(id_of_cause(diagnose_text(text + std::string(4096, '\0'))) == "J101");
  CHECK(id_of_cause(diagnose_text(text + "2.4\n")) == "none");
  CHECK(id_of_cause(diagnose_text("ORTE was unable to reliably start one or more daemons.\n" + text +
                                  std::string(4096, '\0'))) == "C1");
}

TEST_CASE("a bare exception stands behind the text that explains it") {
  const std::string frame = "Traceback (most recent call last):\n  File \"fit.py\", line 9, in <module>\n";
  const std::string usage =
      "NCCL error in: ProcessGroupNCCL.cpp:77, invalid usage, NCCL version 2.10.3\n"
      "ncclInvalidUsage: This usually reflects invalid usage of NCCL library\n";
  CHECK(id_of_cause(diagnose_text(frame + "RuntimeError\n\n" + usage)) == "V131");
  CHECK(id_of_cause(diagnose_text(frame + "RuntimeError\n")) == "E24");
}

TEST_CASE("a GPU with bad memory is the cause, however long its job goes on") {
  std::string lines;
  for (int line = 0; line < 60; ++line) lines += "reading part " + std::to_string(line) + "\n";
  const std::string ecc = "E gpu/session.cc:4] failed call to cuInit: CUDA_ERROR_ECC_UNCORRECTABLE\n";
  const std::string later =
      "Traceback (most recent call last):\n  File \"fit.py\", line 9, in <module>\n"
      "InternalError: no session\n";
  CHECK(id_of_cause(diagnose_text(ecc + lines + later)) == "K78");
}

TEST_CASE("InfiniBand without a port is a note where the job ends well") {
  const std::string help =
      "WARNING: There is at least non-excluded one OpenFabrics device found,\n"
      "but there are no active ports detected (or Open MPI was unable to use\nthem).\n"
      "--------------------------------------------------------------------------\n";
  const std::string count =
      "[n1:77] 7 more processes have sent help message help-mpi-btl-openib.txt / no active ports found\n";
  CHECK(exit_code(diagnose_text(help + "Reading mesh\nSolving\nEnd\n" + count)) == 0);
  CHECK(id_of_cause(diagnose_text(help)) == "A12");
}

TEST_CASE("the value of a message is neither a frame line nor its own first line") {
  const std::string box = " %%%%%%%%%%%%%%%%%%%%%%%%%%%%\n", head = "     Error in routine scale_h (1):\n";
  const Diagnosis diagnosis =
      diagnose_text(box + head + "\n" + box + head + "     the field has another grid\n" + box);
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title == "Quantum ESPRESSO stopped: the field has another grid");
}

TEST_CASE("a value that ends within a sentence goes on in the next line") {
  const Diagnosis diagnosis = diagnose_text(
      "ERROR: LoadError: MethodError: Cannot `convert` an object of type \n  Int64 to an object of type \n"
      "  Channel\n\nStacktrace:\n [1] top-level scope\n   @ ~/run.jl:3\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title ==
        "a Julia program stopped: MethodError: Cannot `convert` an object of type Int64 to an object of type "
        "Channel");
}

TEST_CASE("an exception that a signature explains counts before a last line that looks like an end") {
  const Diagnosis diagnosis = diagnose_text(
      "Traceback (most recent call last):\n  File \"/work/fit.py\", line 4, in main\n"
      "omegaconf.errors.ConfigAttributeError: Key 'depth' is not in struct\n    full_key: net.depth\n"
      "    object_type=dict\n\nSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack "
      "trace.\n");
  CHECK(id_of_cause(diagnosis) == "Y58");
}

TEST_CASE("who ended the job explains more than the interrupt that the program met") {
  const std::string interrupt =
      "Traceback (most recent call last):\n  File \"fit.py\", line 8, in <module>\nKeyboardInterrupt\n";
  CHECK(id_of_cause(diagnose_text(interrupt)) == "E24");
  CHECK(id_of_cause(diagnose_text(
            interrupt +
            "TERM_ADMIN: job killed by root or an administrator.\nExited with exit code 130.\n")) == "J64");
  CHECK(id_of_cause(diagnose_text(
            "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-02T03:04:05 ***\n" + interrupt)) ==
        "F37");
}

TEST_CASE("a program of the job script that its compiler did not write") {
  const std::string missing =
      "/tmp/slurmd/job7/slurm_script: line 13: ./heat-gpu: No such file or directory\n";
  CHECK(id_of_cause(diagnose_text(missing)) == "J92");
  const Diagnosis diagnosis =
      diagnose_text("fatbinary fatal   : Unknown option '-image3'\nmake: *** [heat-gpu] Error 2\n" + missing);
  CHECK(id_of_cause(diagnosis) == "L30");
}

TEST_CASE("results that contain the word error, and runs of one rank in turn, are no failure") {
  const std::string run =
      "n1: I am process 0 of 1\npi is approximately 3.1415926535898389, Error is 0.0000000000000457\n"
      "Time (seconds) = 17.12\n";
  CHECK(exit_code(diagnose_text("with gnu9\n" + run + "with gnu12\n" + run)) == 0);
}

TEST_CASE("a file of which the message names a line is there: the line is shown") {
  const Diagnosis diagnosis =
      diagnose_text("OwnFlowError in line 12 of /work/ada/rules/count.own: the step has no output\n");
  REQUIRE(diagnosis.cause);
  REQUIRE(!diagnosis.cause->remedies.empty());
  CHECK(diagnosis.cause->remedies.front().starts_with("sed -n 12p /work/ada/rules/count.own "));
}

TEST_CASE("a task that a workflow starts again is a note where the workflow ends well") {
  const std::string rule =
      "[Mon Mar  4 10:00:01 2024]\nError in rule trim:\n    jobid: 3\n    output: t/a.fq\n";
  const std::string done =
      "Trying to restart job 3.\nrule trim:\n    output: t/a.fq\nFinished job 3.\n4 of 4 steps (100%) done\n"
      "Complete log: x.log\n";
  CHECK(exit_code(diagnose_text(rule + done)) == 0);
  CHECK(id_of_cause(diagnose_text(rule)) == "Y154");
  std::string tasks;
  for (int task = 0; task < 14; ++task)
    tasks += "[1a/2b] Submitted process > ALIGN (" + std::to_string(task) + ")\n";
  CHECK(exit_code(diagnose_text(
            "executor >  slurm (7)\n[5e/77] NOTE: Process `QC (2)` terminated with an error exit status "
            "(137) -- "
            "Execution is retried (1)\n" +
            tasks + "Completed at: 04-Mar-2024 10:00:00\nDuration    : 1h 2m 3s\nCPU hours   : 12.1\n")) ==
        0);
}

TEST_CASE("the error of a rule's own program explains more than the rule") {
  const Diagnosis diagnosis = diagnose_text(
      "trim: error: the adapter has no letters\nError in rule trim:\n    jobid: 3\n    output: t/a.fq\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title == "trim: error: the adapter has no letters");
}

TEST_CASE("a library is missing because a module is unknown") {
  const Diagnosis diagnosis = diagnose_text(
      "Lmod has detected the following error: The following module(s) are unknown: \"cuda/77\"\n"
      "./solve: error while loading shared libraries: libcudart.so.12: cannot open shared object file: No "
      "such "
      "file or directory\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->evidence.front().line == 1);
}

TEST_CASE("a remedy of Slurm comes last where nothing shows Slurm") {
  const std::string ecc = "CUDA error: uncorrectable ECC error encountered\n";
  const Diagnosis plain = diagnose_text(ecc);
  REQUIRE(plain.cause);
  CHECK(plain.cause->remedies.back().starts_with("srun --exclude"));
  const Diagnosis of_slurm = diagnose_text(ecc + "srun: error: n1: task 2: Exited with exit code 1\n");
  REQUIRE(of_slurm.cause);
  CHECK(of_slurm.cause->remedies.front().starts_with("srun --exclude"));
}

TEST_CASE("a line that announces an error is read with the next one") {
  const Diagnosis diagnosis = diagnose_text(
      "sea: step 12\n (abort_sea) ABORTED:\n (abort_sea) error = (advect) points out of bounds\n"
      "forrtl: error (76): Abort trap signal\nImage              PC                Routine\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title == "(abort_sea) ABORTED: (abort_sea) error = (advect) points out of bounds");
}

TEST_CASE("the line of a file in the directory of the job is shown") {
  const Diagnosis diagnosis =
      diagnose_text("ERROR in read_config: keyword \"tiem\" not recognised (line 14 of run.cfg)\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->remedies.front().starts_with("sed -n 14p run.cfg "));
}

TEST_CASE("an incomplete step is no end of a run") {
  const std::string error = "CMake Error at CMakeLists.txt:20 (find_package):\n  no package \"Own\"\n";
  CHECK(exit_code(diagnose_text(
            error + "\n  OwnConfig.cmake\n  own-config.cmake\n\n-- Configuring incomplete, errors "
                    "occurred!\n")) == 1);
}

TEST_CASE("a program that Python starts explains its end itself") {
  const std::string end =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in <module>\n"
      "subprocess.CalledProcessError: Command '['./prep']' returned non-zero exit status 3.\n";
  const Diagnosis diagnosis = diagnose_text("prep: unable to read variable 'lev'\n" + end);
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title == "prep: unable to read variable 'lev'");
  CHECK(id_of_cause(diagnose_text(end)) == "H206");
}

TEST_CASE("the exit status in an epilogue shows that a run failed") {
  const std::string text =
      "store> Error: failed to open the table\nResource usage summary:\n    CPU time : 12.00 sec.\n"
      "    Max Memory : 12 MB\nJob 12 finished\nwrote 1 of 2\n";
  CHECK(exit_code(diagnose_text(text + "Exit status: 1\n")) == 1);
  CHECK(exit_code(diagnose_text(text + "Exit status: 0\n")) == 0);
}

TEST_CASE("the last words before a call of MPI_Abort are in the title") {
  const std::string end = "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 4\n";
  const Diagnosis words = diagnose_text("step 1 t 0.1\nNegative pressure at node 12, giving up\n" + end);
  REQUIRE(words.cause);
  CHECK(words.cause->title == "rank 4 called MPI_Abort after: Negative pressure at node 12, giving up");
  const Diagnosis numbers = diagnose_text("step 1 t 0.1\nstep 2 t 0.2\n" + end);
  REQUIRE(numbers.cause);
  CHECK(numbers.cause->title == "rank 4 called MPI_Abort");
}

TEST_CASE("a rank's own words explain what the other ranks of libddl report of it") {
  const std::string reported =
      "an exception ended the Context of rank 1 (node2)\n  at:  rank 1 (node2)\n"
      "  try: read the message of that rank: it has the reason\n";
  const std::string own = "error: cannot open part-1.bin\n";
  const std::string thrown =
      "terminate called after throwing an instance of 'std::runtime_error'\n"
      "  what():  cannot open part-1.bin\n";
  const std::string end =
      "Primary job  terminated normally, but 1 process returned\n"
      "a non-zero exit code. Per user-direction, the job has been aborted.\n";
  for (const std::string& text : {reported + own + end, own + reported + end, thrown + reported + end}) {
    CAPTURE(text);
    const Diagnosis diagnosis = diagnose_text(text);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->title.find("cannot open part-1.bin") != std::string::npos);
  }
  CHECK(id_of_cause(diagnose_text(reported + end)) == "O31");
}

TEST_CASE("a connection that fails after a rank of the other host ended is a consequence") {
  const std::string failed =
      "WARNING: Open MPI failed to TCP connect to a peer MPI process.  This\nshould not happen.\n\n"
      "Your Open MPI job may now hang or fail.\n\n  Local host: node1\n  PID:        10320\n"
      "  Message:    connect() to 10.84.1.2:1024 failed\n  Error:      Operation now in progress (115)\n";
  const std::string lost = "An MPI communication peer process has unexpectedly disconnected.  This\n";
  const std::string ended = "rank 1 (node2) ended before it came to all_reduce #6 of 1000 float32\n";
  const auto end_on = [](const std::string& host) {
    return "mpirun noticed that process rank 1 with PID 8934 on node " + host +
           " exited on signal 6 (Aborted).\n";
  };
  CHECK(id_of_cause(diagnose_text(failed)) == "D2");
  CHECK(id_of_cause(diagnose_text(failed + end_on("node1"))) == "D2");  // it could not connect, and gave up
  CHECK(id_of_cause(diagnose_text(failed + end_on("node2"))) != "D2");
  const std::string left =
      "mpirun has exited due to process rank 1 with PID 8610 on\nnode node2 exiting improperly. There are "
      "three "
      "reasons this could occur:\n";
  CHECK(id_of_cause(diagnose_text(failed + left)) == "E4");
  CHECK(id_of_cause(diagnose_text(failed + lost)) == "D2");  // what follows from the failure
  CHECK(id_of_cause(diagnose_text(lost + failed)) != "D2");
  CHECK(id_of_cause(diagnose_text(ended + failed)) == "O30");
}

TEST_CASE("the error text of libddl's C interface, between words of the program") {
  const Diagnosis found = diagnose_text(
      "rank 1 status 2: rank 3 (node2) calls barrier #2, rank 1 (node2) calls barrier #1 (at rank 3 (node2), "
      "rank 1 "
      "(node2)); try all ranks make the same calls with the same counts in the same order\nthen 2: rank 3 "
      "(node2) calls "
      "barrier\n");
  REQUIRE(found.cause);
  CHECK(found.cause->title ==
        "ranks make different calls of libddl: rank 3 (node2) calls barrier #2, rank 1 (node2) calls barrier "
        "#1");
  for (const std::string& remedy : found.cause->remedies) CHECK(remedy.find("then 2") == std::string::npos);
}

TEST_CASE("a program that prints libddl's error and calls MPI_Abort: the error is the cause") {
  const std::string place = "  at:  rank 3 (node2)\n";
  const std::string advice = "  try: check whether the process runs, and read its last output\n";
  const std::string abort =
      "--------------------------------------------------------------------------\n"
      "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 1.\n\n"
      "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n";
  const Diagnosis found = diagnose_text(
      "rank 3 (node2) has sent nothing for 5 s in all_reduce #2 of 100 float32\n" + place + advice + abort);
  CHECK(id_of_cause(found) == "O16");
  for (const std::string& remedy : found.cause->remedies) CHECK(remedy.find("dmesg") == std::string::npos);
  // The reason that another program prints stands above lines of advice. These are not reasons.
  const Diagnosis own = diagnose_text("std: bad input file\n" + place + advice + advice + advice + abort);
  CHECK(id_of_cause(own) == "E26");
  CHECK(render_diagnosis(own).find("try: check whether") == std::string::npos);
  CHECK(render_diagnosis(own).find("std: bad input file") != std::string::npos);
}

TEST_CASE("the three reasons that mpirun lists are no errors of the program") {
  const Diagnosis found = diagnose_text(
      "mpirun has exited due to process rank 1 with PID 0 on\nnode node2 exiting improperly. There are three "
      "reasons this could occur:\n\n1. this process did not call \"init\" before exiting, but others in\nthe "
      "job did. This can cause a job to hang indefinitely while it waits\nfor all processes to call "
      "\"init\".\n"
      "\n2. this process called \"init\", but exited without calling \"finalize\".\nBy rule, all processes "
      "that call \"init\" MUST call \"finalize\" prior to\nexiting or it will be considered an \"abnormal "
      "termination\"\n\n3. this process called \"MPI_Abort\" or \"orte_abort\" and the mca parameter\n"
      "orte_create_session_dirs is set to false. In this case, the run-time cannot\ndetect that the abort "
      "call "
      "was an abnormal termination. Hence, the only\nerror message you will receive is this one.\n");
  CHECK(id_of_cause(found) == "E4");
  CHECK(found.also_seen.empty());
}

TEST_CASE("a mismatch of libddl names both ranks") {
  const Diagnosis found = diagnose_text(
      "rank 3 (node2) calls all_reduce #6 (average) of 1000 float32 \"g\", rank 1 (node2) calls all_reduce "
      "#6 "
      "(average) of 999 float32 \"g\"\n");
  REQUIRE(found.cause);
  CHECK(found.cause->all_ranks == std::vector<std::uint32_t>{1, 3});
}

TEST_CASE("the rank that libddl names is the first to fail, whichever end mpirun reports first") {
  const std::string ends =
      "rank 1: STD an exception ended the Context of rank 3 (node2)\n"
      "rank 3: STD my own exception: cannot read shard 7\n"
      "The first process to do so was:\n\n  Process name: [[48921,1],1]\n  Exit code:    1\n";
  const Diagnosis found = diagnose_text(ends);
  CHECK(id_of_cause(found) == "L20");
  CHECK(found.cause->place == Place{3, "node2"});
  REQUIRE(found.first_failing);
  CHECK(found.first_failing->place == Place{3, "node2"});
}

TEST_CASE("what Open MPI loses while a job ends is no cause of the end") {
  const std::string route =
      "mpirun does not know how to route a message to the specified daemon\nlocated on the indicated "
      "node:\n\n"
      "  my node:   n1\n  target node:  n2\n";
  const std::string limit =
      "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-02T03:04:05 DUE TO TIME LIMIT ***\n";
  CHECK(id_of_cause(diagnose_text("step 1\n" + limit + route)) == "F15");
  CHECK(id_of_cause(diagnose_text(route)) == "C13");
  const std::string lost =
      "[n1:103] [[192,0],0] ORTE_ERROR_LOG: Data unpack would read past end of buffer in file "
      "../../../orte/util/show_help.c at line 513\n";
  const std::string thrown =
      "terminate called after throwing an instance of 'std::runtime_error'\n  what():  NaN loss\n";
  const Diagnosis diagnosis = diagnose_text(lost + thrown);
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title.find("NaN loss") != std::string::npos);
}

TEST_CASE("where launch names no rank as the first, none is") {
  const std::string other = "srun: error: n4: task 6: Exited with exit code 1\n";
  for (const std::string end : {"all 4 ranks failed alike: exit status 1",
                                "ranks 2 on h2 and 1 on h1 failed within 1 s: exit status 1",
                                "ranks 0 and 1 failed first: they make different calls"}) {
    CAPTURE(end);
    const Diagnosis diagnosis = diagnose_text(other + "ddlrun: " + end + "\n");
    CHECK_FALSE(diagnosis.first_failing);
    CHECK(diagnosis.verdict != Verdict::no_trouble);
  }
  CHECK(diagnose_text(other).first_failing);
}

TEST_CASE("only with mpirun as the process that crashed the rankfile is the cause of a smashed stack") {
  const std::string smashed = "*** stack smashing detected ***: terminated\n";
  const std::string shell = "job.sh: line 4: 21873 Aborted                 (core dumped) ";
  CHECK(diagnose_text(smashed).cause->id == "R17");
  CHECK(diagnose_text(smashed + shell + "./solve --steps 3\n").cause->id == "R17");
  CHECK(diagnose_text(smashed + shell + "mpirun -np 2 --rankfile job.rf ./solve\n").cause->id == "X4");
}

TEST_CASE("a variable that is not set is no syntax error") {
  const Diagnosis diagnosis = diagnose_text("start\nbash: line 1: SCRATCHDIR: unbound variable\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "G41");
  CHECK(diagnosis.also_seen.empty());
}

TEST_CASE("of an error of MPI the first to fail shows the reason, not that all errors are fatal") {
  // As Open MPI 4.1.4 prints it.
  const Diagnosis diagnosis = diagnose_text(
      "[n1:31672] *** An error occurred in MPI_Init\n[n1:31672] *** reported by process [390922241,1]\n"
      "[n1:31672] *** on a NULL communicator\n[n1:31672] *** Unknown error\n"
      "[n1:31672] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n"
      "[n1:31672] ***    and potentially your MPI job)\n");
  REQUIRE(diagnosis.first_failing);
  CHECK(diagnosis.first_failing->how == "Unknown error");
}

TEST_SUITE_END();
