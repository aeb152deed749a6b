// SPDX-License-Identifier: MIT
#include "doctor/diagnose/exit_status.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <string>
#include <utility>
#include <vector>

using namespace ddlrun::diagnose;

TEST_SUITE_BEGIN("doctor/diagnose/exit_status");

TEST_CASE("an exit status is explained by the program that reported it") {
  struct Row {
    int status;
    LogSource from;
    const char* part;
    int signal;
  };
  const Row rows[] = {
      {137, LogSource::mpirun, "SIGKILL (128 + 9)", 9},
      {139, LogSource::mpirun, "SIGSEGV", 11},
      {134, LogSource::unknown, "SIGABRT", 6},
      {143, LogSource::slurm, "SIGTERM", 15},
      {271, LogSource::pbs, "SIGTERM (256 + 15)", 15},
      {265, LogSource::pbs, "SIGKILL (256 + 9)", 9},
      {-29, LogSource::pbs, "walltime", 0},
      {132, LogSource::mpirun, "executed", 0},
      {132, LogSource::unknown, "SIGILL", 4},
      {205, LogSource::mpirun, "daemon", 0},
      {255, LogSource::mpirun, "ssh", 0},
      {-9, LogSource::unknown, "SIGKILL (-9)", 9},
      {124, LogSource::unknown, "time limit", 0},
      {127, LogSource::unknown, "not found", 0},
      {7, LogSource::mpirun, "", 0},
      {0, LogSource::mpirun, "", 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.status);
    CHECK(status_meaning({row.status, row.from}).find(row.part) != std::string::npos);
    CHECK(signal_of({row.status, row.from}) == row.signal);
  }
  CHECK(status_meaning({7, LogSource::mpirun}).empty());
}

TEST_CASE("the status of a rank has no meaning of its launcher") {
  for (const auto& [status, meaning] : std::vector<std::pair<int, std::string>>{
           {255, "a program that returned -1"},
           {205, ""},
           {213, ""},
           {7, ""},
           {132, "ended by SIGILL (128 + 4)"},
           {127, "the program, or the interpreter of a script, was not found"}}) {
    for (const LogSource from : {LogSource::mpirun, LogSource::unknown}) {
      CAPTURE(status);
      RunStatus end{status, from, true};
      end.is_of_first_rank = true;
      CHECK(status_meaning(end) == meaning);
    }
  }
}

TEST_CASE("what wait(2) returned is an exit status or a signal") {
  // W_EXITCODE(status, signal) of glibc is status << 8 | signal; 0x80 marks a core file.
  CHECK(wait_status_words(W_EXITCODE(255, 0)).starts_with("exit status 255: ssh's own failure"));
  CHECK(wait_status_words(W_EXITCODE(1, 0)) == "exit status 1");
  CHECK(wait_status_words(W_EXITCODE(127, 0)).starts_with("exit status 127: the program"));
  CHECK(wait_status_words(W_EXITCODE(0, 9)).starts_with("signal 9 (SIGKILL)"));
  CHECK(wait_status_words(W_EXITCODE(0, 11) | WCOREFLAG).starts_with("signal 11 (SIGSEGV)"));
  CHECK(wait_status_words(1 << 20) == "exit code 1048576");
}

TEST_SUITE_END();
