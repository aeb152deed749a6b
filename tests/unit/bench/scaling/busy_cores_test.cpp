// SPDX-License-Identifier: MIT
#include "bench/scaling/busy_cores.hpp"

#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::bench_report;

TEST_SUITE_BEGIN("bench/scaling/busy_cores");

TEST_CASE("ticks of /proc/stat: idle and iowait are not busy, guest is in user already") {
  const auto times = parse_cpu_times("cpu  100 20 30 800 50 5 5 10 40 4\ncpu0 1 1 1 1\n");
  REQUIRE(times);
  CHECK(times->busy == 170);
  CHECK(times->all == 1020);
  CHECK_FALSE(parse_cpu_times("cpu0 1 2 3 4 5\n"));
  CHECK_FALSE(parse_cpu_times("cpu x\n"));
  CHECK_FALSE(parse_cpu_times(""));
}

TEST_CASE("a busy host is reported, an idle one is not") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  const auto during_pause = [&](const char* line) {
    fake.files.files["/proc/stat"] = "cpu 0 0 0 0 0 0 0 0\n";
    fake.clock.on_pause = [&fake, line](std::chrono::milliseconds) {
      fake.files.files["/proc/stat"] = line;
      return 0;
    };
    fake.err.clear();
    warn_if_busy(system, 4);
    return fake.err;
  };
  CHECK(during_pause("cpu 30 0 0 90 0 0 0 0\n").find("use 1.0 of 4 cores") != std::string::npos);
  CHECK(during_pause("cpu 3 0 0 117 0 0 0 0\n").empty());
  CHECK(during_pause("no numbers\n").empty());
}

TEST_SUITE_END();
