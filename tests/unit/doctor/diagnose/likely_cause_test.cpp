// SPDX-License-Identifier: MIT
#include "doctor/diagnose/likely_cause.hpp"

#include "doctor/diagnose/gpu_error_code.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/likely_cause");

namespace {

SalientLine line_of(std::string text, int score, std::uint64_t sequence) {
  SalientLine line;
  line.line.text = std::move(text);
  line.score = score;
  line.moment.sequence = sequence;
  return line;
}

}  // namespace

TEST_CASE("an error in words outranks a crash, and of one weight the earliest counts") {
  const std::vector<SalientLine> lines = {line_of("Segmentation fault", 72, 9), line_of("b: error: 2", 81, 5),
                                          line_of("a: error: 1", 80, 2), line_of("no luck", 55, 1)};
  REQUIRE(most_telling(lines, 70) != nullptr);
  CHECK(most_telling(lines, 70)->line.text == "a: error: 1");
  CHECK(most_telling({lines[3]}, 70) == nullptr);
  CHECK(most_telling({}, 0) == nullptr);
}

// help-dash-host.txt and help-prte-rmaps-base.txt of PRRTE 3.0.8: no word in them is one of an error.
TEST_CASE("the last message of mpirun is the likely cause, with and without the status of the run") {
  for (const std::string message : {"The requested number of empty hosts was not available \u2014 the system "
                                    "was\nshort by 4 hosts.  Please "
                                    "recheck your allocation.\n",
                                    "A mapping directive was given that requires knowledge of\na remote "
                                    "node's topology. However, no topology "
                                    "info is\navailable for the following node:\n\n  Node: node2\n"}) {
    const std::string rule(help_ruler);
    for (const RunStatus& end : {RunStatus{}, RunStatus{1}, RunStatus{1, LogSource::mpirun}}) {
      const Diagnosis found = diagnose_text(rule + "\n" + message + rule + "\n", end);
      CAPTURE(message);
      CHECK(found.verdict == Verdict::likely_cause);
      REQUIRE(found.cause);
      CHECK(message.starts_with(found.cause->title.substr(0, 40)));
    }
  }
}

TEST_CASE("a message of several lines gives one headline") {
  struct Row {
    std::string text;
    std::string headline;
  };
  const Row rows[] = {
      {"Abort(1094543) on node 0 (rank 0 in comm 0): Fatal error in PMPI_Init_thread: Other MPI error, error "
       "stack:\n"
       "MPIR_Init_thread(639)......: \n"
       "MPID_Init(860).............: fail failed\n"
       "MPIDI_NM_mpi_init_hook(689): the segment table is full (init.h:689: No data available)\n",
       "PMPI_Init_thread: the segment table is full (init.h:689: No data available)"},
      {"x: MPI_Abort: Fatal error in PMPI_Init: Other MPI error, error stack: MPID_Init(501)....:  "
       "MPIDI_mpi_init_hook(599): the segment table is full (init.c:599:Invalid argument)\n",
       "the segment table is full (init.c:599:Invalid argument)"},
      {"E base_collective_executor.cc:249] StartAbort DEADLINE_EXCEEDED: Deadline Exceeded\n"
       "F grpc_server_lib.cc:103] UNIMPLEMENTED: Clean shutdown is not currently implemented\n",
       "E base_collective_executor.cc:249] StartAbort DEADLINE_EXCEEDED: Deadline Exceeded"},
      {"terminate called after throwing an instance of 'std::logic_error'\n  what():  the mesh is empty\n",
       "C++ exception 'std::logic_error': the mesh is empty"},
      {"terminate called after throwing an instance of 'int'\n", "C++ exception 'int'"},
      {"CUDA Error:\n    File:       gpu.cu\n    Error code: 700\n    Error text: an illegal memory access\n",
       "CUDA Error: File:       gpu.cu Error code: 700 Error text: an illegal memory access"},
      {"solver: error: residual grows\n", "solver: error: residual grows"},
      {"FATAL ERROR:\nthe mesh is empty\nthe mesh is empty\n", "FATAL ERROR: the mesh is empty"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text("step 1\n" + row.text);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->title == row.headline);
    CHECK(diagnosis.verdict == Verdict::likely_cause);
    CHECK(exit_code(diagnosis) == 1);
    CHECK(render_diagnosis(diagnosis).starts_with("most likely: "));
  }
}

TEST_CASE("a line that looks bad never gives no trouble") {
  for (const char* line :
       {"n1:77:77 [0] misc/ibv.cc:12 NCCL WARN Call to x failed",
        "[n1:5] [[1,0],0] ORTE_ERROR_LOG: Not found in file x",
        "[162.1] [n1:7:0] mm_posix.c:2  UCX  ERROR shm_open(x) failed",
        "./a: libc.so.6: version `GLIBC_2.34' not found", "Error termination: FATAL ERROR 3",
        "job.sh: line 3: 77 Killed   ./a", "OwnError: 3", "getting output: 20% Terminated",
        "NVRM: GPU has fallen off the bus", "E tensorflow/a.cc:936] failed to allocate 22.38G",
        "server: unable to connect", "net0: alloc_svc: Invalid argument",
        "ioctl on /dev/x: Bad file descriptor.", "queue 0x7f aborting with error : OWN_STATUS_ERROR_X"}) {
    CAPTURE(std::string(line));
    CHECK(exit_code(diagnose_text(std::string("step 1\n") + line + "\n")) == 1);
  }
}

TEST_CASE("a text of errno within a sentence, or in a warning, is no failure by itself") {
  for (const char* line :
       {"the flag --x is an invalid argument: it is left out", "warning: probe of net1: Invalid argument"}) {
    CAPTURE(std::string(line));
    CHECK(exit_code(diagnose_text(std::string("step 1\n") + line + "\nstep 2\n")) == 0);
  }
}

TEST_CASE("a number before each line is no rank where MPICH names another") {
  const Diagnosis diagnosis = diagnose_text(
      "3: Abort(1091215) on node 0 (rank 12 in comm 0): Fatal error in PMPI_Init: Other MPI error, error "
      "stack:\n"
      "3: MPIR_Init_thread(136)........:\n"
      "3: MPIDI_mpi_init_hook(1061): the segment table is full (init.c:1061: No data available)\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title.starts_with("PMPI_Init: the segment table is full"));
  CHECK(diagnosis.cause->place.rank == 12u);
}

TEST_CASE("a negative argument of MPI_Abort is no signal") {
  for (const char* text :
       {"MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode -1.\n",
        "application called MPI_Abort(MPI_COMM_WORLD, -1) - process 1\n"}) {
    const Diagnosis diagnosis = diagnose_text(text);
    REQUIRE(diagnosis.first_failing);
    CHECK(diagnosis.first_failing->place.rank == 1u);
    CHECK(diagnosis.first_failing->how == "error code -1");
  }
}

TEST_CASE("rulers and banners are no telling lines") {
  const Diagnosis diagnosis = diagnose_text(
      "**** ERROR **** ################################\nstep 1\n!!!! -- failed -- !!!!\n"
      "solver: error: residual grows\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title == "solver: error: residual grows");
  for (const LogLine& line : diagnosis.salient_lines) CHECK(line.text.find('#') == std::string::npos);
  CHECK(is_decoration("=================="));
  CHECK(is_decoration("|"));
  CHECK(!is_decoration("==== step 1 of 3 ===="));
}

TEST_CASE("the class of an error gives the remedies, with the host of the rank that failed") {
  CHECK(error_class(*builtin_signatures(), "open: Permission denied")->id == "L9");
  CHECK(error_class(*builtin_signatures(), "xyzzy")->id == "L20");
  const Diagnosis diagnosis = diagnose_text(
      "solver: error: cannot open table.dat\nsrun: error: n4: task 2: Exited with exit code 1\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "L10");
  CHECK(diagnosis.cause->place.host == "n4");
  CHECK(diagnosis.cause->place.rank == 2u);
  CHECK(diagnosis.cause->remedies[0].find("on n4") != std::string::npos);
}

TEST_CASE("what prepares a job and what a launcher does explain less than a program's own error") {
  struct Row {
    std::string text;
    std::string headline;
  };
  const std::string own = "solver: error: the mesh has no cells\n";
  const Row rows[] = {
      {"mkdir: cannot create directory 'out': File exists\n" + own, "solver: error: the mesh has no cells"},
      {"slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2024-01-02T03:04:05 ***\n" + own,
       "solver: error: the mesh has no cells"},
      {"W0815 11:58:07.1 77 loader.cc:6] failed to open cache\n" + own,
       "solver: error: the mesh has no cells"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Diagnosis diagnosis = diagnose_text(row.text);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->evidence.front().text == row.headline);
  }
}

TEST_CASE("what a program prints of keys, or of another way that it goes, is no error") {
  const std::string keys =
      "_IncompatibleKeys(missing_keys=['head.weight'], unexpected_keys=['error_head.bias'])\n";
  const std::string fallback = "PDT: Error: Couldn't create heat.pdb. Invoking the alternate compiler\n";
  const std::string other_way = "net: error: cannot use io_uring, falling back to epoll\n";
  const std::string cancelled = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2024-01-02T03:04:05 ***\n";
  for (const std::string& text : {keys, fallback, other_way}) {
    CAPTURE(text);
    CHECK(exit_code(diagnose_text(text + "step 1\n")) == 0);
    const Diagnosis ended = diagnose_text(text + "step 1\n" + cancelled);
    REQUIRE(ended.cause);
    CHECK(ended.cause->id == "F37");
    const Diagnosis failed = diagnose_text(text + "solver: error: the mesh has no cells\n");
    REQUIRE(failed.cause);
    CHECK(failed.cause->title == "solver: error: the mesh has no cells");
  }
}

TEST_CASE("a head that names nothing is read with the lines below it") {
  for (const std::string head : {"FATAL RUNTIME ERROR:", "--> FATAL IO ERROR: (version 7)"}) {
    CAPTURE(head);
    const Diagnosis diagnosis = diagnose_text("step 1\n" + head + "\nthe box is smaller than 3 nm\n");
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->title.find("the box is smaller than 3 nm") != std::string::npos);
  }
}

TEST_CASE("the end of a long line below a head is kept") {
  const Diagnosis diagnosis =
      diagnose_text("FATAL ERROR:\nthe table " + std::string(250, 'x') + " is empty\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title.starts_with("FATAL ERROR: the table x"));
  CHECK(diagnosis.cause->title.ends_with("x is empty"));
}

TEST_CASE("what a launcher prints about an end is weaker than the error before it") {
  const Diagnosis hydra = diagnose_text(
      "[proxy:0:0@n1] own (a.c:146): error: the table is empty\n"
      "[mpiexec@n1] wait (b.c:558): downstream from host n1 was killed by signal 9 (Killed)\n"
      "[mpiexec@n1] main (b.c:2162): assert (pg->intel.exitcodes != NULL) failed\n");
  REQUIRE(hydra.cause);
  CHECK(hydra.cause->title == "own (a.c:146): error: the table is empty");
  CHECK(hydra.cause->place.host == "n1");
  const Diagnosis probe = diagnose_text(
      "libown.so.1: cannot open shared object file: No such file or directory\nsolver: error: residual "
      "grows\n");
  REQUIRE(probe.cause);
  CHECK(probe.cause->title == "solver: error: residual grows");
}

TEST_CASE("the remedies name the path, the option and the variable of the line") {
  const auto first_remedy = [](const std::string& line) {
    const Diagnosis diagnosis = diagnose_text("step 1\nsolver: error: " + line + "\n");
    return diagnosis.cause ? diagnosis.cause->remedies.front() : std::string();
  };
  CHECK(first_remedy("own table /data/a.tab has 3 columns").starts_with("ls -ld /data/a.tab "));
  CHECK(first_remedy("Permission denied: /data/a.tab").starts_with("ls -ld /data/a.tab; id "));
  CHECK(first_remedy("a bad value of --columns").starts_with("PROGRAM --help | grep -e --columns "));
  CHECK(first_remedy("a bad value of NCCL_BUFFSIZE").starts_with("env | grep NCCL_BUFFSIZE "));
}

TEST_CASE("an option such as --learning_rate makes no warning of an error") {
  const Diagnosis diagnosis =
      diagnose_text("[ERROR] main: --learning_rate 2e-5 exits with return code = -9\n");
  CHECK(diagnosis.verdict != Verdict::no_trouble);
}

TEST_CASE("Ctrl-C after an error is not the cause") {
  const std::string interrupt =
      "Traceback (most recent call last):\n  File \"t.py\", line 3, in main\n    wait()\nKeyboardInterrupt\n";
  const Diagnosis after = diagnose_text("worker 3: error: the data set is empty\n" + interrupt);
  REQUIRE(after.cause);
  CHECK(after.cause->title == "worker 3: error: the data set is empty");
  const Diagnosis alone = diagnose_text("step 1\n" + interrupt);
  REQUIRE(alone.cause);
  CHECK(alone.cause->title.starts_with("KeyboardInterrupt"));
}

TEST_CASE("a number of CUDA's errors is shown in words") {
  struct Row {
    const char *text, *words;
  };
  const Row rows[] = {
      {"CUDA error: 2", "cudaErrorMemoryAllocation: out of memory"},
      {"rank 3: CUDA error 700.", "cudaErrorIllegalAddress: a kernel used an illegal address"},
      {"CUDA error: out of memory", ""},
      {"CUDA error: 2 of 7 tests", ""},
      {"CUDA error 31337", ""},
      {"error: 2", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.text));
    CHECK(gpu_error_words(row.text) == row.words);
  }
  const Diagnosis diagnosis = diagnose_text("step 1\nCUDA error: 2\nstep 2\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "L1");
  CHECK(diagnosis.cause->title == "CUDA error: 2 (cudaErrorMemoryAllocation: out of memory)");
}

TEST_CASE("of an exception that wraps a notebook's the inner one counts") {
  const Diagnosis diagnosis = diagnose_text(
      "Traceback (most recent call last):\n  File \"run.py\", line 3, in main\n    run(book)\n"
      "papermill.exceptions.PapermillExecutionError: \n-----------------\nException encountered at \"In "
      "[2]\":\n"
      "-----------------\nOwnError                    Traceback (most recent call last)\nCell In[2], line 4\n"
      "      3 a = 1\n----> 4 start(a)\n\nOwnError: the wheel has no spokes\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title.starts_with("OwnError: the wheel has no spokes"));
}

TEST_CASE("an error of Lustre is one of the file system, whatever follows it") {
  const Diagnosis diagnosis =
      diagnose_text("LNetError: 7:0:(own.c:1:own()) packet too big: 10 left\nLustre: request timed out\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "L40");
}

TEST_SUITE_END();
