// SPDX-License-Identifier: MIT
#include "runtime/telemetry/stall_inspector.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/telemetry/stall_inspector");

TEST_CASE("stall: what a rank is at survives its number") {
  for (const TraceLane lane : {TraceLane::compute, TraceLane::sums, TraceLane::input, TraceLane::saving}) {
    for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 50}) {
      CHECK(unpack_state(pack_state({lane, step})) == RankState{lane, step});
      CHECK(pack_state({lane, step}) != 0);
    }
  }
}

TEST_CASE("stall: who is missing, where, what it was last seen at, and what to do") {
  ddl::Stall stopped{{"rank 3 (h2)"},
                     "all_reduce #812 of 4096 float32",
                     "bucket 2",
                     30.2,
                     false,
                     "last in all_reduce #811 of 10 float32; process 4711 is stopped",
                     pack_state({TraceLane::compute, 811})};
  Message message = render_stall(stopped, 812);
  CHECK(message.what == "rank 3 (h2) has not reached step 812 (bucket 2) for 30 s");
  CHECK(message.where ==
        "last seen: compute of step 811; last in all_reduce #811 of 10 float32; process 4711 is stopped");
  CHECK(message.hint == "kill -CONT 4711   # on its host");
  stopped.over = true;
  stopped.seconds = 43.7;
  message = render_stall(stopped, 812);
  CHECK(message.what == "rank 3 (h2) has reached step 812 (bucket 2) after 44 s");

  ddl::Stall many{{}, "broadcast #3 of 10 float32", "", 60.0, false, "", {}};
  for (int i = 0; i < 9; ++i) many.missing.push_back("rank " + std::to_string(i));
  message = render_stall(many, 0);
  CHECK(message.what ==
        "rank 0, rank 1, rank 2, rank 3, rank 4, rank 5 and 3 more have not reached broadcast #3 of 10 "
        "float32 for 60 s");
  CHECK(message.where.empty());
  CHECK(!message.hint.empty());
}

TEST_CASE("stall: the report shows where its rank is") {
  StallInspector report("ddl-train");
  std::vector<RankState> shown;
  report.report_progress_with([&](std::uint64_t state) { shown.push_back(unpack_state(state)); });
  const auto now = TraceClock::now();
  report.on_start(100, 7);
  report.span(TraceLane::sums, "bucket 0", now, now);  // beside: says nothing about what the rank is at
  report.span(TraceLane::saving, "checkpoint", now, now);
  report.on_step({8, 1, 0, 0, 0, 0});
  CHECK(shown ==
        std::vector<RankState>{{TraceLane::compute, 8}, {TraceLane::saving, 8}, {TraceLane::compute, 9}});
  CHECK(!report.watch(0.0).report);
  CHECK(report.watch(5.0).seconds == 5.0);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
