// SPDX-License-Identifier: MIT
#include "doctor/diagnose/stack_tail.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/stack_tail");

TEST_CASE("lines of a stack") {
  for (const char* line :
       {"@ Main ~/heat/run.jl:12", "@ ./broadcast.jl:516 [inlined]", "at solver.run(solver.js:12:3)",
        "at java.base/java.lang.Thread.run(Thread.java:829)", "... 14 more", "Caused by: java.io.IOException",
        "in expression starting at /work/run.jl:40", "#3  0x00007f in main () from /lib64/libc.so.6",
        "1. ├─d %>% mutate(z = y)"}) {
    CAPTURE(line);
    CHECK(is_stack_line(line));
  }
  for (const char* line : {"at rank 3 the residual is 0.1", "step 12", "... waiting", "@ 2.4 GHz"}) {
    CAPTURE(line);
    CHECK(!is_stack_line(line));
  }
}

TEST_CASE("a long stack is no output of a run that goes on") {
  std::string stack = "Stacktrace:\n";
  for (int frame = 1; frame < 60; ++frame) {
    stack += " [" + std::to_string(frame) + "] advance(state::Field)\n";
    stack += "    @ Solver /work/solver/src/advance.jl:" + std::to_string(frame) + "\n";
  }
  const std::string error = "solver: ERROR: DomainError with -1.0\n";
  CHECK(exit_code(diagnose_text("step 1\n" + error + stack)) == 1);
  std::string steps;
  for (int step = 0; step < 120; ++step) steps += "step " + std::to_string(step) + " of 120\n";
  CHECK(exit_code(diagnose_text("step 1\n" + error + steps)) == 0);
}

TEST_SUITE_END();
