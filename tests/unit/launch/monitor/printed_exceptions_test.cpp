// SPDX-License-Identifier: MIT
// Tracebacks as Python 3.11 and PyTorch 2.4 print them.
#include "launch/monitor/printed_exceptions.hpp"

#include <doctest/doctest.h>

using ddlrun::launch::PrintedExceptions;

TEST_SUITE_BEGIN("launch/monitor/printed_exceptions");

namespace {

void print_traceback(PrintedExceptions& printed, std::uint32_t rank, const char* exception) {
  for (const char* line : {"Traceback (most recent call last):\n", "  File \"mpi.py\", line 8, in <module>\n",
                           "    raise RuntimeError(\"shape mismatch\")\n", exception})
    printed.take(rank, line);
}

}  // namespace

TEST_CASE("the exception of a finished traceback is that of its rank") {
  PrintedExceptions printed;
  printed.take(0, "step 3\n");
  print_traceback(printed, 1, "    ^^^^^\n");
  CHECK(printed.of(1).empty());
  printed.take(1, "RuntimeError: shape mismatch\n");
  CHECK(printed.of(1) == "RuntimeError: shape mismatch");
  CHECK(printed.of(0).empty());
}

TEST_CASE("of a chain the last exception counts, and lines of PyTorch have their rank") {
  PrintedExceptions printed;
  print_traceback(printed, 1, "KeyError: 'a'\n");
  printed.take(1, "During handling of the above exception, another exception occurred:\n");
  print_traceback(printed, 1, "ValueError: b\n");
  CHECK(printed.of(1) == "ValueError: b");
  printed.take(1, "[rank1]: Traceback (most recent call last):\n");
  printed.take(1, "[rank1]:   File \"train.py\", line 3, in <module>\n");
  CHECK(printed.of(1).empty());
  printed.take(1, "[rank1]: torch.OutOfMemoryError: CUDA out of memory.\n");
  CHECK(printed.of(1) == "torch.OutOfMemoryError: CUDA out of memory.");
}

TEST_CASE("an exception that the program survives, or that Python only reports, does not count") {
  PrintedExceptions printed;
  print_traceback(printed, 0, "ValueError: skipped\n");
  for (int step = 0; step < 10; ++step) printed.take(0, "step\n");
  CHECK(printed.of(0) == "ValueError: skipped");
  printed.take(0, "step\n");
  CHECK(printed.of(0).empty());
  printed.take(1, "Exception ignored in: <function f at 0x7f>\n");
  print_traceback(printed, 1, "OSError: closed\n");
  CHECK(printed.of(1).empty());
  print_traceback(printed, 1, "OSError: real\n");
  CHECK(printed.of(1) == "OSError: real");
}
