// SPDX-License-Identifier: MIT
#include "doctor/report/baseline.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;

TEST_SUITE_BEGIN("doctor/report/baseline");

TEST_CASE("facts that change from run to run are not compared") {
  for (const char* fact : {"disk.tmp.milliseconds", "mem.free", "disk.tmp.free_bytes.free", "system.uptime",
                           "scheduler.state", "name.table", "cpu.load"}) {
    CAPTURE(fact);
    CHECK_FALSE(is_stable(fact));
  }
  for (const char* fact : {"kernel.release", "limits.memlock", "disk.tmp.state", "nccl.version"}) {
    CAPTURE(fact);
    CHECK(is_stable(fact));
  }
}

TEST_SUITE_END();
