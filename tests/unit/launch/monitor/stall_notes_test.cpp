// SPDX-License-Identifier: MIT
// Notes on ranks that wait: when they come, and whom they name.
#include "launch/monitor/stall_text.hpp"
#include "tests/unit/launch/monitor/monitored_run.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::RankMonitor;
using launch::RankStatus;
using launch::Stall;
using Run = tests::MonitoredRun;
using tests::asleep_stall, tests::stopped_stall;

TEST_SUITE_BEGIN("launch/monitor/stall_notes");

TEST_CASE("an idle rank is only noted, with what the others do") {
  Run run;
  run.pass(10, "12");
  run.say(3, RankStatus::stalled, asleep_stall);
  run.pass(10, "12");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.reported[0] ==
        "13 note rank 3 on h2 has used almost no CPU time and moved no bytes for 50 s, while 3 of 4 ranks "
        "go on: process 813 (train) sleeps in futex_wait; it may wait for another rank");
  run.say(3, RankStatus::stalled, stopped_stall);  // and then somebody stops it
  run.pass(5, "12");
  CHECK(run.received("is stopped (SIGSTOP)"));
}

TEST_CASE("a rank that waited for one that was stopped gets time to go on") {
  Run run(60);
  run.pass(10, "12");
  for (std::uint32_t rank : {1u, 2u, 3u}) run.say(rank, RankStatus::stalled, asleep_stall);
  run.say(0, RankStatus::stalled, stopped_stall);
  run.pass(5, "12");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.received("is stopped (SIGSTOP)"));
  run.say(0, RankStatus::resumed, stopped_stall);
  run.pass(50, "12");
  CHECK(run.reported.size() == 2);  // rank 0 goes on
  run.pass(20, "12");
  REQUIRE(run.reported.size() == 3);
  CHECK(run.received("ranks 1-3 have used almost no CPU time"));
}

TEST_CASE("ranks that spin are noted only where no rank works") {
  const launch::Stall spinning{60, 'R', 814, "solver", "libopen-pal.so.40"};
  Run run;
  run.pass(10, "12");
  for (std::uint32_t rank : {0u, 1u, 2u}) run.say(rank, RankStatus::stalled, spinning);
  run.pass(60, "12");
  CHECK(run.reported.empty());
  run.say(3, RankStatus::stalled, asleep_stall);
  run.pass(60, "12");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.reported[0].find("note rank") != std::string::npos);
  CHECK(run.received("nor have the other 3"));
}

TEST_CASE("a rank that printed an exception and has not ended is named, wherever it waits") {
  const launch::Stall spinning{60, 'R', 814, "python3", "libopen-pal.so.40"};
  for (const launch::Stall& stall : {spinning, asleep_stall}) {
    Run run;
    run.watch.explain_by(
        [](std::uint32_t rank) { return rank == 2 ? "RuntimeError: shape mismatch" : std::string(); },
        "python3 -m mpi4py train.py", [] { return true; });
    run.pass(10, "12");
    for (std::uint32_t rank : {0u, 1u, 3u}) run.say(rank, RankStatus::stalled, spinning);
    run.say(2, RankStatus::stalled, stall);
    run.pass(60, "12");
    REQUIRE(run.reported.size() == 1);
    CHECK(run.received("note rank 2 on h2 printed RuntimeError: shape mismatch and has not ended; it has"));
    CHECK(run.received("nor have the other 3"));
    CHECK(run.received("; the others seem to wait for it"));
    CHECK(run.watch.record().raised == 2u);
    const auto standstill = run.watch.standstill(run.start + std::chrono::seconds(run.now));
    REQUIRE(standstill);
    CHECK(standstill->message.hint == "python3 -m mpi4py train.py");
    CHECK(standstill->ranks == std::vector<std::uint32_t>{2});
    run.say(2, RankStatus::resumed, stall);
    CHECK_FALSE(run.watch.record().raised);
  }
}

TEST_CASE("where this host has no py-spy, the hint installs it; elsewhere that is not known") {
  const launch::Stall asleep{50, 'S', 813, "python3", "futex_wait"};
  for (const bool has_py_spy : {false, true}) {
    for (const bool is_here : {false, true}) {
      RankMonitor watch(Run::planned(), "T", {}, [is_here](const std::string&) { return is_here; });
      watch.explain_by({}, "", [has_py_spy] { return has_py_spy; });
      const launch::RankReport report{0, "h1", RankStatus::stalled, asleep, 0, 0};
      watch.take_line(launch::render_status_line("T", report), {});
      std::string hint;
      for (int second = 1; second < 15; ++second)
        for (const auto& news : watch.tick(RankMonitor::Time{std::chrono::seconds(second)}))
          hint += news.message.hint;
      const std::string lead = !is_here ? "ssh -t h1 " : has_py_spy ? "" : "pip install py-spy && ";
      CHECK(hint == lead + "py-spy dump --pid 813   # if it should be working");
    }
  }
}

TEST_CASE("where all ranks printed an exception, none of them waits for another") {
  Run run;
  run.watch.explain_by([](std::uint32_t) { return "ValueError"; }, "", [] { return true; });
  run.pass(10, "12");
  for (std::uint32_t rank = 0; rank < 4; ++rank) run.say(rank, RankStatus::stalled, asleep_stall);
  run.pass(60, "12");
  CHECK(run.received("note rank 0 on h1 printed ValueError and has not ended"));
  CHECK_FALSE(run.received("wait for it"));
}

TEST_CASE("a note on ranks that wait names those that ended with status 0 before") {
  const launch::Stall spinning{60, 'R', 814, "solver", "libopen-pal.so.40"};
  Run run;
  run.pass(10, "12");
  for (std::uint32_t rank : {1u, 2u}) run.say(rank, RankStatus::ended);
  for (std::uint32_t rank : {0u, 3u}) run.say(rank, RankStatus::stalled, spinning);
  run.pass(60, "12");
  REQUIRE(run.reported.size() == 1);
  CHECK(
      run.reported[0].find("waits at full speed in libopen-pal.so.40; ranks 1-2 have ended with status 0") !=
      std::string::npos);
}

// Gloo and libddl sleep while they wait, MPI spins.
TEST_CASE("the rank that computes is named, not those that wait for it") {
  const launch::Stall computing{50, 'C', 813, "python3", "python3.11"},
      spinning{50, 'R', 814, "solve", "libmpi.so.40"};
  for (const launch::Stall& waiting : {asleep_stall, spinning}) {
    Run run;
    run.pass(10, "12");
    for (std::uint32_t rank : {0u, 2u, 3u}) run.say(rank, RankStatus::stalled, waiting);
    run.pass(2, "12");
    run.say(1, RankStatus::computes, computing);
    run.pass(60, "12");
    REQUIRE(run.reported.size() == 1);
    CHECK(run.reported[0] ==
          "15 note rank 1 on h1 has used CPU time and moved no bytes for 50 s, while the other 3 wait for "
          "it, as "
          "it seems: process 813 (python3) runs python3.11");
    CHECK(run.watch.record().stall.empty());  // no end by --on-stall: it works
    CHECK(run.watch.record().stalls.back().rank == 1);
    run.say(1, RankStatus::resumed, computing);
    run.pass(2, "12");
    CHECK(run.reported.size() == 1);
  }
}

TEST_CASE("a rank that computes is not awaited where that does not show") {
  const launch::Stall computing{50, 'C', 813, "python3", "python3.11"},
      sleeping{50, 'S', 9, "a", "hrtimer_nanosleep"};
  launch::Stall unknown = computing;
  unknown.waits_in.clear();  // no samples: it may spin in MPI
  struct Row {
    std::map<std::uint32_t, launch::Stall> stalls;  // state C: computes; without an entry: works
    const char* received;
  };
  for (const Row& row : {
           Row{{{0, asleep_stall}, {1, unknown}, {2, asleep_stall}, {3, asleep_stall}},
               "ranks 0,2-3 have used almost no CPU time and moved no bytes for 50 s, while rank 1 on h1 "
               "goes on "
               "(process 813, python3): process"},
           Row{{{0, asleep_stall}, {1, computing}, {2, asleep_stall}},
               "ranks 0,2 have used almost no CPU time and moved no bytes for 50 s, while ranks 1,3 go on: "
               "process"},
           Row{{{0, asleep_stall}, {1, computing}, {2, computing}, {3, computing}},
               "rank 0 on h1 has used almost no CPU time and moved no bytes for 50 s, while 3 of 4 ranks go "
               "on: "},
           Row{{{0, asleep_stall}, {1, computing}, {2, asleep_stall}, {3, sleeping}},
               "while rank 1 on h1 goes on"},
       }) {
    Run run;
    run.pass(10, "12");
    for (const auto& [rank, stall] : row.stalls)
      run.say(rank, stall.state == 'C' ? RankStatus::computes : RankStatus::stalled, stall);
    run.pass(60, "12");
    CAPTURE(row.received);
    REQUIRE(run.reported.size() == 1);
    CAPTURE(run.reported[0]);
    CHECK(run.received(row.received));
  }
}

TEST_CASE("all idle: reported once, not for each rank") {
  Run run;
  run.pass(10, "12");
  for (std::uint32_t rank : {0u, 1u, 2u, 3u}) {
    run.say(rank, RankStatus::stalled, asleep_stall);
    run.pass(rank == 2 ? 2 : 0, "12");  // not quite at the same time
  }
  run.pass(60, "12");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.received(
      "all 4 ranks have used almost no CPU time and moved no bytes for 50 s: process 813 (train) of rank 0 "
      "on h1 sleeps in futex_wait"));
  for (std::uint32_t rank : {0u, 1u, 2u, 3u}) run.say(rank, RankStatus::resumed, {70, 'R', 813, "", ""});
  run.pass(2, "12");
  REQUIRE(run.reported.size() == 2);
  CHECK(run.received("  ranks 0-3 go on after 70 s"));
}

// DDP over Gloo: rank 3 hangs, the others wait; with --stall-timeout 60 the samples are 5 s apart.
TEST_CASE(
    "ranks that come to stand one after the other get one note, with the rank that the others wait for") {
  Run run;
  run.watch = RankMonitor(Run::planned(), "T", run.start, {}, false, 60);
  run.pass(10, "12");
  launch::Stall sleeps = asleep_stall;
  sleeps.waits_in = "hrtimer_nanosleep";
  run.say(0, RankStatus::stalled, asleep_stall);
  run.pass(4, "12");
  run.say(3, RankStatus::stalled, sleeps);
  run.pass(5, "12");
  run.say(2, RankStatus::stalled, asleep_stall);
  run.pass(1, "12");
  run.say(1, RankStatus::stalled, asleep_stall);
  run.pass(9, "12");
  CHECK(run.reported.empty());
  run.pass(60, "12");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.reported[0] ==
        "30 note rank 3 on h2 has used almost no CPU time and moved no bytes for 50 s, nor have the other 3: "
        "process 813 "
        "(train) sleeps in hrtimer_nanosleep; the others seem to wait for it");
  CHECK(run.watch.record().stall.starts_with("rank 3 on h2 has used"));
  CHECK(run.watch.record().stall_severity == "note");
}

TEST_CASE("a rank that never came to init_process_group is named, not the one that polls for it") {
  Run run;
  run.pass(10, "12");
  run.say(0, RankStatus::stalled, {16, 'P', 700, "python3", "hrtimer_nanosleep"});
  run.say(1, RankStatus::stalled, {16, 'S', 701, "python3", "hrtimer_nanosleep"});
  for (std::uint32_t rank : {2u, 3u})
    run.say(rank, RankStatus::stalled, {16, 'S', 702, "python3", "wait_woken"});
  run.pass(10, "12");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.received("note rank 1 on h1 has"));
}

TEST_CASE("ranks that keep coming to stand delay a note three times at most") {
  Run run;
  run.pass(10, "12");
  run.say(0, RankStatus::stalled, asleep_stall);
  for (int turn = 0; turn < 12; ++turn) {
    run.say(turn % 2 == 0 ? 1 : 2, RankStatus::stalled, asleep_stall);
    run.say(turn % 2 == 0 ? 2 : 1, RankStatus::resumed, asleep_stall);
    run.pass(1, "12");
  }
  REQUIRE_FALSE(run.reported.empty());
  CHECK(run.reported[0].starts_with("19 note "));
}

TEST_CASE("while a rank is stopped, the others are not noted: they wait for it") {
  Run run;
  run.pass(10, "12");
  for (std::uint32_t rank : {0u, 1u, 2u}) run.say(rank, RankStatus::stalled, asleep_stall);
  run.say(3, RankStatus::stalled, stopped_stall);
  run.pass(30, "12");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.received("warning rank 3"));
}

TEST_CASE("all idle: the one that waits elsewhere is named, and --on-stall end may end the job") {
  Run run;
  run.pass(10, "12");
  for (std::uint32_t rank : {0u, 1u, 2u, 3u}) {
    launch::Stall stall = asleep_stall;
    if (rank == 2) stall.waits_in = "hrtimer_nanosleep";
    run.say(rank, RankStatus::stalled, stall);
  }
  run.pass(10, "12");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.received("rank 2 on h2"));
  CHECK(run.received("nor have the other 3"));
  CHECK(run.received("hrtimer_nanosleep"));
}

TEST_CASE("of two ranks that are left and idle, the other is one: it is not counted") {
  Run run;
  run.pass(10, "12");
  for (std::uint32_t rank : {0u, 1u}) run.say(rank, RankStatus::ended);
  run.say(3, RankStatus::stalled, asleep_stall);
  launch::Stall stall = asleep_stall;
  stall.waits_in = "hrtimer_nanosleep";
  run.say(2, RankStatus::stalled, stall);
  run.pass(10, "12");
  CHECK(run.received("rank 2 on h2 has used almost no CPU time"));
  CHECK(run.received(", nor has the other rank: process 813"));
}

TEST_CASE("the ranks that the others wait for are those that wait in another way") {
  const Stall sleeps{50, 'S', 1, "python3", "hrtimer_nanosleep"},
      polls{50, 'P', 2, "python3", "hrtimer_nanosleep"}, locked{50, 'S', 3, "python3", "futex_do_wait"},
      receives{50, 'S', 4, "python3", "wait_woken"}, spins{50, 'R', 5, "solve", "libmpi.so.40"};
  struct Row {
    std::map<std::uint32_t, Stall> idle;
    std::vector<std::uint32_t> awaited;
  };
  const Row rows[] = {
      {{{0, polls}, {1, sleeps}, {2, receives}, {3, receives}}, {1}},
      {{{0, locked}, {1, locked}, {2, locked}, {3, sleeps}}, {3}},
      {{{0, sleeps}, {1, locked}, {2, locked}, {3, sleeps}}, {0, 3}},
      {{{0, sleeps}, {1, sleeps}, {2, sleeps}, {3, locked}}, {3}},
      {{{0, spins}, {1, spins}, {2, receives}, {3, spins}}, {2}},
      {{{0, locked}, {1, locked}, {2, receives}}, {2}},
      {{{0, locked}, {1, receives}}, {}},
      {{{0, locked}, {1, sleeps}}, {1}},
      {{{0, sleeps}, {1, sleeps}}, {}},
      {{{0, spins}, {1, spins}}, {}},
  };
  for (const Row& row : rows) CHECK(launch::find_awaited(row.idle) == row.awaited);
}

TEST_CASE("what stands still is known until it ends, in words of the moment") {
  Run run;
  const auto now = [&] { return run.watch.standstill(run.start + std::chrono::seconds(run.now)); };
  run.pass(10, "12");
  CHECK_FALSE(now());
  for (std::uint32_t rank : {0u, 1u, 2u, 3u}) {
    Stall stall = asleep_stall;
    if (rank == 2) stall.waits_in = "hrtimer_nanosleep";
    run.say(rank, RankStatus::stalled, stall);
  }
  CHECK_FALSE(now());  // not yet reported
  run.pass(30, "12");
  REQUIRE(now());
  CHECK(now()->severity == "note");
  CHECK(now()->message ==
        ddlrun::Message{
            "rank 2 on h2 has used almost no CPU time and moved no bytes for 80 s, nor have the "
            "other 3: process 813 (train) sleeps in hrtimer_nanosleep; the others seem to wait for it",
            "h2", "ssh -t h2 gdb -p 813   # if it should be working"});
  CHECK(now()->ranks == std::vector<std::uint32_t>{2});
  run.say(3, RankStatus::stalled, stopped_stall);
  run.pass(1, "12");
  CHECK(now()->severity == "warning");
  CHECK(now()->message.what.starts_with("rank 3 on h2 has made no progress for 51 s: "));
  CHECK(now()->ranks == std::vector<std::uint32_t>{3});
  for (std::uint32_t rank : {0u, 1u, 2u, 3u}) run.say(rank, RankStatus::resumed);
  CHECK_FALSE(now());
  run.pass(40, "1");
  REQUIRE(now());
  CHECK(now()->message.what.starts_with("host h2 has been silent for "));
  CHECK(now()->ranks == std::vector<std::uint32_t>{2, 3});
}

TEST_CASE("a rank that computes while the others wait stands still as long as they do") {
  Run run;
  const auto now = [&] { return run.watch.standstill(run.start + std::chrono::seconds(run.now)); };
  run.pass(10, "12");
  for (std::uint32_t rank : {0u, 2u, 3u}) run.say(rank, RankStatus::stalled, asleep_stall);
  run.say(1, RankStatus::computes, {50, 'C', 813, "python3", "python3.11"});
  run.pass(20, "12");
  REQUIRE(now());
  CHECK(now()->message.what ==
        "rank 1 on h1 has used CPU time and moved no bytes for 70 s, while the other 3 wait for it, as it "
        "seems: "
        "process 813 (python3) runs python3.11");
  CHECK(now()->ranks == std::vector<std::uint32_t>{1});
  for (std::uint32_t rank : {0u, 1u, 2u, 3u}) run.say(rank, RankStatus::ended);
  CHECK_FALSE(now());
}

TEST_SUITE_END();
