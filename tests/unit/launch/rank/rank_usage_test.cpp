// SPDX-License-Identifier: MIT
#include "launch/rank/rank_usage.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::RankUsage;
using launch::UsageMeter;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_SUITE_BEGIN("launch/rank/rank_usage");

TEST_CASE("a rank reports each 2 s, and of many ranks launch reads at most 4,096 lines a second") {
  CHECK(launch::usage_interval(1) == milliseconds(2000));
  CHECK(launch::usage_interval(8192) == milliseconds(2000));
  CHECK(launch::usage_interval(65'536) == milliseconds(16'000));
  CHECK(launch::usage_interval(0) == launch::usage_interval(65'536));
}

TEST_CASE("the first reports are spread over the interval, and none comes at once") {
  CHECK(launch::first_usage(0, milliseconds(2000)) == milliseconds(125));
  CHECK(launch::first_usage(15, milliseconds(2000)) == milliseconds(2000));
  CHECK(launch::first_usage(16, milliseconds(2000)) == milliseconds(125));
}

TEST_CASE("use is measured between two looks, by the time that has really passed") {
  const UsageMeter::Time start{};
  UsageMeter meter(start);
  const RankUsage first = meter.take(start + seconds(2), {3000, 4096 * 1024, 0, false}, false);
  CHECK(first == RankUsage{150, 4096, 0, 0, false, std::nullopt});
  const RankUsage late = meter.take(start + seconds(12), {8000, 1024, 10'240'000, true}, false);
  CHECK(late == RankUsage{50, 1, 1000, 0, true, std::nullopt});
}

TEST_CASE(
    "a rank is quiet where it neither computes nor moves bytes; one with a GPU may compute while it sleeps") {
  struct Row {
    std::uint64_t cpu_ms, io_bytes;
    bool has_gpu;
    int quiet_s;
  };
  for (const Row& row : {
           Row{0, 0, false, 10},               // asleep
           Row{100, 0, false, 10},             // polls: 1 % of a core
           Row{100, 0, true, 0},               // with a GPU that is work
           Row{300, 0, false, 0},              // computes
           Row{0, 100 * 1024, false, 10},      // a log line now and then
           Row{0, 10 * 1024 * 1024, false, 0}  // reads a slow disk
       }) {
    CAPTURE(row.cpu_ms);
    CAPTURE(row.io_bytes);
    UsageMeter meter(UsageMeter::Time{});
    CHECK(meter.take(UsageMeter::Time{} + seconds(10), {row.cpu_ms, 0, row.io_bytes, false}, row.has_gpu)
              .quiet_s == row.quiet_s);
  }
}

TEST_CASE("counters that fall give no usage: no parent waited for a process that ended") {
  UsageMeter meter(UsageMeter::Time{});
  meter.take(UsageMeter::Time{} + seconds(2), {9000, 0, 1 << 20, false}, false);
  const RankUsage usage = meter.take(UsageMeter::Time{} + seconds(4), {100, 0, 0, false}, false);
  CHECK(usage.cpu_percent == 0);
  CHECK(usage.io_kib_s == 0);
}

TEST_CASE("the traffic of a host has a rate from the second look on") {
  UsageMeter meter(UsageMeter::Time{});
  RankUsage usage;
  meter.add_traffic(UsageMeter::Time{} + seconds(1), {1 << 30, 1 << 30}, usage);
  CHECK_FALSE(usage.host);
  meter.add_traffic(UsageMeter::Time{} + seconds(3), {(1 << 30) + 4096, 1 << 30}, usage);
  CHECK(usage.host == launch::TrafficRate{2, 0});
}
