// SPDX-License-Identifier: MIT
#include "launch/monitor/exit_banner.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("launch/monitor/exit_banner");

TEST_CASE("lines in which a launcher reports the end of a rank: Open MPI 4.1.4 and 5.0.7, MPICH 4.0.2") {
  for (const char* line :
       {"   Process name: [[48921,1],1]", "   Process name: [prterun-node1-182632@1,1]", "   Exit code:    1",
        "=   EXIT CODE: 9", "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"}) {
    CAPTURE(line);
    CHECK(launch::is_report_of_end(line));
  }
  for (const char* line : {"Process name: solver", "ValueError: bad exit code"}) {
    CAPTURE(line);
    CHECK_FALSE(launch::is_report_of_end(line));
  }
}

TEST_SUITE_END();
