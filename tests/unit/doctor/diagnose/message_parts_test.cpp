// SPDX-License-Identifier: MIT
#include "doctor/diagnose/message_parts.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/message_parts");

TEST_CASE("the path that a message is about") {
  struct Row {
    const char* message;
    const char* path;
  };
  const Row rows[] = {
      {"FileNotFoundError: [Errno 2] No such file or directory: 'data/train.h5'", "data/train.h5"},
      {"mkdir: cannot create directory ‘/run/user/7’: Permission denied", "/run/user/7"},
      {"mkdir: cannot create directory `/.slurm': Permission denied", "/.slurm"},
      {"open(/dev/shm/a): Permission denied", ""},
      {"cannot open /scratch/a/in.dat: No such file", "/scratch/a/in.dat"},
      {"python: can't open file './train.py': [Errno 2]", "./train.py"},
      {"get https://a.b/c failed", ""},
      {"error at /src/a.c:12", ""},
      {"KeyError: 'a'", ""},
      {"1/2 of it", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.message));
    CHECK(path_in(row.message) == row.path);
  }
}

TEST_CASE("the script that a shell names") {
  struct Row {
    const char* message;
    const char* script;
  };
  const Row rows[] = {
      {"./ddp.py: 4: Syntax error: word unexpected (expecting \")\")", "./ddp.py"},
      {"run.sh: line 31: syntax error: unexpected end of file", "run.sh"},
      {"bash: ./a.sh: /bin/bash^M: bad interpreter: No such file or directory", "./a.sh"},
      {"bash: -c: line 1: syntax error near unexpected token `('", ""},
      {"/var/spool/slurmd/job77/slurm_script: line 31: syntax error: unexpected end of file", ""},
      {"/var/spool/pbs/mom_priv/jobs/7.h.SC: line 2: [[: not found", ""},
      {"SyntaxError: invalid syntax", ""},
      {"step 3: 14: done", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.message));
    CHECK(script_in(row.message) == row.script);
  }
}

TEST_CASE("the library that a message names") {
  CHECK(library_in("./a: error while loading shared libraries: libimf.so: cannot open shared object file") ==
        "libimf.so");
  CHECK(library_in("a.py: symbol lookup error: /opt/x/libtorch_cuda.so: undefined symbol: f") ==
        "libtorch_cuda.so");
  CHECK(library_in("Could not load dynamic library 'libcudnn.so.8'; dlerror: x") == "libcudnn.so.8");
  CHECK(library_in("a library is missing") == "");
}

TEST_CASE("a message's own advice, in one sentence") {
  struct Row {
    const char* message;
    const char* advice;
  };
  const Row rows[] = {
      {"sbatch: error: Please add  #SBATCH --nodes=NN to the script\nsbatch: error: again",
       "Please add  #SBATCH --nodes=NN to the script"},
      {"ERROR: no device. Try reducing the number of ranks per node.Fatal error detected",
       "Try reducing the number of ranks per node"},
      {"OwnError: the reader needs version 7; you must set own_reader=7 here",
       "you must set own_reader=7 here"},
      {"OwnError: it failed. Please report this bug to the authors", ""},
      {"You may or may not see what the other processes print", ""},
      {"OwnError: it failed. For more info, please see https://own.org/shutdown", ""},
      {"it failed in step 3", ""},
      {"", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.message));
    CHECK(advice_in(row.message) == row.advice);
  }
}

TEST_CASE("advice comes first, and paths are quoted in commands") {
  const Diagnosis diagnosis = diagnose_text(
      "step 1\nown.error: error: the table has no index. Please set own.index=yes in the input.\n");
  REQUIRE(diagnosis.cause);
  REQUIRE(!diagnosis.cause->remedies.empty());
  CHECK(diagnosis.cause->remedies.front() == "as the log advises: Please set own.index=yes in the input.");
  const Diagnosis denied =
      diagnose_text("step 1\nown: error: '/data/a $(id)' is owned by another: Permission denied\n");
  REQUIRE(denied.cause);
  for (const std::string& remedy : denied.cause->remedies)
    CHECK((remedy.find("$(id)") == std::string::npos || remedy.find("'/data/a $(id)'") != std::string::npos));
}

TEST_CASE("the option and the variable that a message names") {
  CHECK(option_in("tool: error: invalid value for --grid-size=3") == "--grid-size");
  CHECK(option_in("a line --- with a dash -- in it") == "");
  CHECK(variable_in("OFI: wrong value of FI_PROVIDER") == "FI_PROVIDER");
  CHECK(variable_in("set $OWN_HOME first") == "OWN_HOME");
  CHECK(variable_in("the environment variable OWN_HOME is not set") == "OWN_HOME");
  CHECK(variable_in("MPI_ERR_TRUNCATE: message truncated") == "");
  CHECK(variable_in("CUDA_ERROR_ILLEGAL_ADDRESS in KERNEL_X") == "");
}

TEST_CASE("the part of a message that its source has") {
  CHECK(searchable_part("Error: cell volume is negative -0.33 in element 1204") ==
        "cell volume is negative -");
  CHECK(searchable_part("mesh file '/work/a.msh' has too few elements") == "has too few elements");
  CHECK(searchable_part("error 12: abc").empty());
}

TEST_CASE("a file in the directory of the job") {
  CHECK(path_in("Error: No such file input.dat") == "input.dat");
  CHECK(path_in("cannot open run_2.nml: 0.5 s") == "run_2.nml");
  CHECK(path_in("Error in model.fit: shapes").empty());
  CHECK(file_with_line("there must be 1 or 3 items on line 4 of POSCAR") == "POSCAR");
  CHECK(file_with_line("keyword not recognised (line 14 of run.cfg)") == "run.cfg");
  CHECK(file_with_line("line 14 of the input").empty());
}

TEST_CASE("the port in a message") {
  struct Row {
    const char* message;
    const char* port;
  };
  const Row rows[] = {
      {"failed to listen on any local network address. port: 29511, useIpv6: false, code: -98", "29511"},
      {"[W socket.cpp:2426] [c10d] The server socket has failed to bind to [::]:29511 (errno: 98 - Address",
       "29511"},
      {"The client socket has timed out after 60000ms while trying to connect to (node1, 29512).", "29512"},
      {"failed to connect to node1:29513 (errno: 111 - Connection refused).", "29513"},
      {"bind 10.0.0.7:29514 failed", "29514"},
      {"bind() on port 29515: Address already in use", "29515"},
      {"TCPStore.hpp:1361 Address already in use", ""},
      {"OSError: [Errno 98] Address already in use", ""},
      {"at 12:34:5678, port 80", ""},
      {"port 123456", ""},
      {"", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.message);
    CHECK(port_in(row.message) == row.port);
  }
}

TEST_SUITE_END();
