// SPDX-License-Identifier: MIT
#include "doctor/diagnose/usage_footer.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/usage_footer");

namespace {

// As the programs print them: bash 5.2, bash with -p, zsh 5.9, tcsh 6.24, GNU time 1.9, LSF 10.1, a job
// script.
const std::string footers[] = {
    "\nreal\t0m0.004s\nuser\t0m0.001s\nsys\t0m0.000s\n",
    "real 0.00\nuser 0.00\nsys 0.00\n",
    "./solve  0.00s user 0.00s system 80% cpu 0.004 total\n",
    "0.000u 0.001s 0:00.00 0.0%\t0+0k 0+0io 0pf+0w\n",
    "0.00user 0.00system 0:00.00elapsed 0%CPU (0avgtext+0avgdata 448maxresident)k\n"
    "0inputs+8outputs (0major+38minor)pagefaults 0swaps\n",
    "\nResource usage summary:\n\n    CPU time :                                   0.61 sec.\n"
    "    Max Memory :                                 2 MB\n    Run time :                                   "
    "3 sec.\n"
    "    Turnaround time :                            5 sec.\n",
    "Elapsed: 0:00:12\n"};

}  // namespace

TEST_CASE("a failure stays the cause above what `time` and a batch system print") {
  const std::pair<const char*, const char*> failures[] = {
      {"./a: error while loading shared libraries: liba.so: cannot open shared object file: No such file or "
       "directory\n",
       "E15"},
      {"mpirun: Error: unknown option \"--bind-too\"\nType 'mpirun --help' for usage.\n", "C33"},
      {"bash: line 1: ./nosuchprog: No such file or directory\n", "J92"},
      {"bash: line 1: ./crlf.sh: cannot execute: required file not found\n", "X42"},
      {"start\nbash: line 1: 25511 Floating point exception./fpe\n", "L17"}};
  for (const auto& [text, id] : failures) {
    for (const std::string& footer : footers) {
      CAPTURE(text);
      CAPTURE(footer);
      const Diagnosis diagnosis = diagnose_text(text + footer + "Job done at 12:00\n");
      CHECK(diagnosis.verdict != Verdict::no_trouble);
      REQUIRE(diagnosis.cause);
      CHECK(diagnosis.cause->id == id);
      for (const LogLine& line : diagnosis.cause->following) CHECK(!is_usage_footer(line.text));
    }
  }
}

TEST_CASE("a stall that launch ended stays the cause above the lines of `time`") {
  const Diagnosis diagnosis = diagnose_text(
      "rank 0: step 1\nddlrun: note: all 2 ranks have moved no bytes for 8 s: process 17 (a.out) of rank 0 "
      "on n1 "
      "waits at full speed in libmpi.so\nddlrun: the job is ended, as --on-stall end asks\n"
      "ddlrun: the job ended with status 124; run directory /home/me/r\n" +
      footers[0]);
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "O8");
}

TEST_CASE("results above the footer still show that the run went on") {
  const std::string error = "n1: the mlx5_0 port cannot be opened: Invalid argument\n";
  for (const std::string& footer : footers) {
    CAPTURE(footer);
    CHECK(exit_code(diagnose_text(error + "# Size  Latency (us)\n1  0.23\n2  0.24\n" + footer)) == 0);
  }
}

TEST_CASE("a line of a program is no footer") {
  for (const char* line :
       {"real time 3", "user 5 left", "Duration: unknown", "Elapsed time is over: 3 of 4 ranks",
        "CPU time limit exceeded", "sys.exit(3)", "real\tworld"})
    CHECK_FALSE(is_usage_footer(line));
}

TEST_SUITE_END();
