// SPDX-License-Identifier: MIT
// The head's view of a run: signs of the ranks at their times go in, what people are reported comes out.
#include "launch/monitor/rank_monitor.hpp"

#include "tests/unit/launch/monitor/monitored_run.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>

using namespace ddlrun;
using launch::MonitorEvent;
using launch::RankMonitor;
using launch::RankReport;
using launch::RankStatus;

using Run = tests::MonitoredRun;
using std::chrono::seconds;
using tests::stopped_stall;

TEST_SUITE_BEGIN("launch/monitor/rank_monitor");

TEST_CASE("a rank killed alone soon after another's error is the cause, unless the launcher kills programs") {
  for (const bool kills_programs : {false, true}) {
    CAPTURE(kills_programs);
    const RankMonitor::Time start{};
    RankMonitor watch(Run::planned(), "T", start, {}, kills_programs);
    RankReport error{2, "h2", RankStatus::ended, {}, 7, 0},
        killed{1, "h1", RankStatus::ended, {}, 137, SIGKILL};
    killed.alone = true;
    watch.take_line(launch::render_status_line("T", error), start);
    watch.take_line(launch::render_status_line("T", killed), start + std::chrono::milliseconds(200));
    REQUIRE(watch.record().first_failure);
    CHECK(watch.record().first_failure->rank == (kills_programs ? 2U : 1U));
  }
}

TEST_CASE("a report that names another host is one of the planned host") {
  Run run;
  RankReport forged{3, "h9", RankStatus::ended, {}, 7, 0};
  run.watch.take_line(launch::render_status_line("T", forged), RankMonitor::Time{});
  REQUIRE(run.watch.record().first_failure);
  CHECK(run.watch.record().first_failure->host == "h2");
}

TEST_CASE("a healthy run is not talked about") {
  Run run;
  run.pass(300, "12");
  for (std::uint32_t rank : {0u, 1u, 2u, 3u}) run.say(rank, RankStatus::ended);
  run.pass(100, "");
  CHECK(run.reported.empty());
}

TEST_CASE("a stopped rank is named at once, with host, process and remedy; its going on too") {
  Run run;
  run.pass(10, "12");
  run.say(3, RankStatus::stalled, stopped_stall);
  run.pass(10, "12");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.reported[0] ==
        "10 warning rank 3 on h2 has made no progress for 50 s: process 812 (train) is stopped (SIGSTOP)");
  run.say(3, RankStatus::resumed, {72, 'R', 812, "", ""});
  run.pass(10, "12");
  REQUIRE(run.reported.size() == 2);
  CHECK(run.reported[1] == "20  rank 3 on h2 goes on after 72 s");
  CHECK(run.watch.record().stalls.size() == 1);
}

TEST_CASE("what to type about a stuck rank can be typed as it stands") {
  struct Row {
    char state;
    const char* here;
    const char* elsewhere;
  };
  for (const Row& row :
       {Row{'T', "kill -CONT 812", "ssh h2 kill -CONT 812"},
        Row{'t', "grep TracerPid /proc/812/status", "ssh h2 grep TracerPid /proc/812/status"},
        Row{'D', "df   # a file system that hangs, hangs df too",
            "ssh h2 df   # a file system that hangs, hangs df too"},
        Row{'S', "gdb -p 812   # if it should be working",
            "ssh -t h2 gdb -p 812   # if it should be working"}}) {
    CAPTURE(row.state);
    const RankMonitor::Time start{};
    for (const bool is_here : {true, false}) {
      RankMonitor watch(Run::planned(), "T", start,
                        [&](const std::string& host) { return is_here == (host == "h2"); });
      const launch::Stall stall{50, row.state, 812, "train", ""};
      watch.take_line(launch::render_status_line("T", {3, "h2", RankStatus::stalled, stall, 0, 0}), start);
      const auto reported = watch.tick(start + seconds(10));
      REQUIRE(reported.size() == 1);
      CHECK(reported[0].message.hint == (is_here ? row.here : row.elsewhere));
    }
  }
}

TEST_CASE("a silent host is named within 30 s, with its ranks, and when it reports again") {
  Run run;
  run.pass(11, "12");  // h2 speaks for the last time at 10
  run.pass(40, "1");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.reported[0] == "30 warning host h2 has been silent for 20 s: no sign of life from ranks 2-3");
  run.pass(10, "12");
  CHECK(run.received("host h2 reports again"));
  CHECK(run.watch.record().silent_hosts == std::vector<std::string>{"h2"});
}

TEST_CASE("of a silent host only the ranks that run are named") {
  Run run;
  run.say(2, RankStatus::ended);
  run.say(3, RankStatus::heartbeat);
  run.pass(30, "1");
  REQUIRE(run.reported.size() == 1);
  CHECK(run.reported[0] == "20 warning host h2 has been silent for 20 s: no sign of life from rank 3");
  const auto standstill = run.watch.standstill(run.start + seconds(run.now));
  REQUIRE(standstill);
  CHECK(standstill->ranks == std::vector<std::uint32_t>{3});
}

TEST_CASE("a host that never says anything is named too; before the first sign nothing is") {
  Run run;
  run.pass(500, "");
  CHECK(run.reported.empty());
  run.pass(60, "1");
  CHECK(run.received("host h2 has sent nothing yet, 20 s after the first of the others: ranks 2-3"));
}

TEST_CASE("hosts are not called silent when their speakers have ended, or when we were stopped ourselves") {
  Run ended;
  ended.pass(10, "12");
  ended.say(2, RankStatus::ended);
  ended.say(3, RankStatus::ended);
  ended.pass(100, "1");
  CHECK(ended.reported.empty());
  Run stopped_head;
  stopped_head.pass(10, "12");
  stopped_head.now += 3600;
  stopped_head.pass(100, "12");
  CHECK(stopped_head.reported.empty());
}

TEST_CASE("a thousand hosts and ranks in trouble: eight by themselves, the rest in a line") {
  std::vector<launch::PlannedRank> planned(1000);
  for (std::uint32_t i = 0; i < planned.size(); ++i) {
    planned[i].rank = i;
    planned[i].host = "n" + std::to_string(1000 + i);
  }
  const RankMonitor::Time start{};
  RankMonitor watch(planned, "T", start);
  for (std::uint32_t i = 0; i < planned.size(); ++i) {
    watch.take_line(launch::render_status_line("T", {i, "n", RankStatus::stalled, stopped_stall, 0, 0}),
                    start);
  }
  const auto stalls = watch.tick(start + seconds(1));
  REQUIRE(stalls.size() == 9);
  CHECK(stalls[8].message.what == "the same of ranks 8-999");
  watch.tick(start + seconds(8));
  watch.tick(start + seconds(15));
  const auto hosts = watch.tick(start + seconds(21));
  REQUIRE(hosts.size() == 9);
  CHECK(hosts[8].message.what.starts_with("the same of 992 more hosts: n1008,n1009,"));
  CHECK(hosts[8].message.what.size() < 500);
  CHECK(watch.record().stalls.size() == 64);
}

TEST_CASE("who failed first") {
  struct Row {
    const char* what;
    std::vector<std::pair<std::uint32_t, int>> ends;  // rank, status; above 128 by that signal
    int job;
    int rank;  // -1: no one is named
  };
  for (const Row& row : {Row{"an exit code, the others ended by mpirun", {{2, 7}, {0, 143}, {1, 143}}, 7, 2},
                         Row{"mpirun's TERM overtakes the report", {{0, 143}, {2, 7}, {1, 137}}, 7, 2},
                         Row{"ended from outside", {{1, 143}, {0, 143}}, 143, 1},
                         Row{"killed from outside", {{3, 137}, {0, 143}}, 137, 3},
                         Row{"a crash", {{3, 139}, {0, 143}}, 139, 3},
                         Row{"a host lost: mpirun ended the ranks", {{0, 143}, {1, 137}}, 5, -1},
                         Row{"all is well", {{0, 0}, {1, 0}}, 0, -1}}) {
    CAPTURE(row.what);
    Run run;
    for (const auto& [rank, status] : row.ends) {
      run.say(rank, RankStatus::ended, {}, status, status > 128 ? status - 128 : 0);
    }
    const auto first = launch::find_first_failure(run.watch.record(), row.job);
    CHECK((first ? static_cast<int>(first->rank) : -1) == row.rank);
  }
  const RankReport killed{3, "h2", RankStatus::ended, {}, 137, 9, 0, true};
  struct Other {
    int status, signal, later, first;
  };
  // After 5 s the other rank has failed by itself.
  for (const Other& other : {Other{14, 0, 0, 3}, Other{14, 0, 1, 3}, Other{141, 13, 1, 3},
                             Other{139, 11, 1, 0}, Other{14, 0, 5, 0}}) {
    CAPTURE(other.status);
    Run run;
    run.say(0, RankStatus::ended, {}, other.status, other.signal);
    run.watch.take_line(launch::render_status_line("T", killed), run.start + seconds(other.later));
    CHECK(static_cast<int>(launch::find_first_failure(run.watch.record(), 14)->rank) == other.first);
  }
  CHECK(launch::render_first_failure({3, "h2", RankStatus::ended, {}, 139, 11}) ==
        "rank 3 on h2 failed first: it was ended by signal 11 (SIGSEGV), status 139");
  CHECK(launch::render_first_failure({3, "h2", RankStatus::ended, {}, 7, 0}) ==
        "rank 3 on h2 failed first: it exited with status 7");
  CHECK(launch::render_first_failure({3, "h2", RankStatus::ended, {}, 127, 0, ENOENT}) ==
        "rank 3 on h2 failed first: it exited with status 127: the program or its interpreter does not exist "
        "there");
}

// Intel MPI's hydra ends the other ranks by SIGKILL of their programs, and ranks of a host may share a
// cgroup.
TEST_CASE("only of the rank that failed first a note names the OOM killer") {
  const std::string file = "/sys/fs/cgroup/job/memory.events";
  Run run;
  const auto end = [&](std::uint32_t rank, int status, int signal, bool oom) {
    RankReport report{rank, rank < 2 ? "h1" : "h2", RankStatus::ended, {}, status, signal, 0, signal == 9};
    if (oom) report.oom_file = file;
    return run.watch.take_line("half" + launch::render_status_line("T", report), run.start);
  };
  const std::string note =
      "ddlrun: note: the kernel's OOM killer ended a process in the cgroup of rank 3 on h2: the memory of "
      "the "
      "cgroup, or of the host, was used up (" +
      file + ")\n";
  CHECK(end(3, 137, 9, true) == note + "half");
  CHECK(end(2, 137, 9, true) == "half");
  CHECK(end(1, 137, 9, false) == "half");
  run = Run();
  CHECK(end(0, 1, 0, false) == "half");  // because of rank 3
  CHECK(end(3, 137, 9, true) == note + "half");
  run = Run();
  CHECK(end(3, 137, 0, true) == note + "half");  // as a shell reports it
  CHECK(end(2, 137, 9, true) == "half");
  CHECK(run.watch.record().first_failure->rank == 3);
}

TEST_CASE("the rank for which the others waited failed first") {
  struct Row {
    std::string what;
    std::vector<std::pair<std::uint32_t, int>> ends;
    std::string says;
  };
  for (const Row& row : {
           Row{"left with status 0", {{1, 0}, {3, 1}}, "rank 1 on h2 failed first: it left while"},
           Row{"the others were ended", {{1, 0}, {0, 143}}, "rank 1 on h2 failed first: it left while"},
           Row{"in MPI_Finalize", {{3, 1}, {1, 143}}, "rank 1 on h2 failed first: it left while"},
           Row{"its report came later",
               {{3, 1}, {1, 3}},
               "rank 1 on h2 failed first: it exited with status 3"},
           Row{"another one crashed",
               {{3, 139}, {1, 1}},
               "rank 3 on h2 failed first: it was ended by signal 11"},
       }) {
    CAPTURE(row.what);
    Run run;
    for (const auto& [rank, status] : row.ends)
      run.say(rank, RankStatus::ended, {}, status, status > 128 ? status - 128 : 0);
    launch::MonitorRecord record = run.watch.record();
    launch::blame(record, 1, "h2");
    const auto first = launch::find_first_failure(record, 1);
    REQUIRE(first);
    CHECK(launch::render_first_failure(*first).starts_with(row.says));
  }
}

TEST_CASE("ranks that fail by themselves in the same second are kept, those that the launcher ends are not") {
  Run run;
  run.say(2, RankStatus::ended, {}, 1);
  run.say(1, RankStatus::ended, {}, 3);
  run.say(0, RankStatus::ended, {}, 143, 15);
  const launch::MonitorRecord record = run.watch.record();
  CHECK(record.failed_with == std::vector<launch::RankEnd>{{1, "h1", 3}});
  CHECK(launch::render_failure(record, *record.first_failure) ==
        "ranks 2 on h2 and 1 on h1 failed within 1 s: exit status 1 and 3");
  launch::MonitorRecord all = record;
  all.alike = 4;
  CHECK(launch::render_failure(all, *all.first_failure) == "all 4 ranks failed alike: exit status 1");
  launch::MonitorRecord blamed = record;
  launch::blame(blamed, 1, "h1");
  CHECK(launch::render_failure(blamed, *blamed.first_failure) ==
        "rank 1 on h1 failed first: it exited with status 3");
  Run later;
  later.say(2, RankStatus::ended, {}, 1);
  later.now += 2;
  later.say(1, RankStatus::ended, {}, 1);
  CHECK(later.watch.record().failed_with.empty());
  CHECK(launch::name_ends({{0, "a", 1}, {1, "a", 1}, {2, "b", 1}, {3, "b", 1}}) ==
        "0 on a, 1 on a, 2 on b and 3 on b");
  CHECK(launch::name_ends({{0, "a", 1}, {1, "a", 1}, {2, "b", 1}, {3, "b", 1}, {4, "c", 1}}) ==
        "0 on a, 1 on a, 2 on b and 2 more");
}

TEST_CASE("a rank that stood still while the others waited for it has not left") {
  for (const auto& [its_end, says] : std::map<int, std::string>{{-1, "it did not respond while"},
                                                                {1, "it did not respond while"},
                                                                {143, "it did not respond while"},
                                                                {0, "it left while"}}) {
    CAPTURE(its_end);
    Run run;
    if (its_end >= 0) run.say(1, RankStatus::ended, {}, its_end, its_end > 128 ? its_end - 128 : 0);
    run.say(3, RankStatus::ended, {}, 1, 0);
    launch::MonitorRecord record = run.watch.record();
    launch::blame(record, 1, "h2", true);
    CHECK(launch::render_first_failure(*launch::find_first_failure(record, 1)) ==
          "rank 1 on h2 failed first: " + says + " the other ranks waited for it");
    if (its_end == 0) continue;
    record.stalls.push_back({1, "h2", RankStatus::stalled, {30, 'T', 7, "train", ""}});
    launch::blame(record, 1, "h2", true);
    CHECK(launch::render_first_failure(*launch::find_first_failure(record, 1))
              .starts_with("rank 1 on h2 failed first: it was stopped while"));
  }
}

TEST_CASE("what all ranks said at their end, after a signal to the job") {
  struct Row {
    std::vector<int> statuses;  // of ranks 0, 1, ...
    std::size_t ranks;
    std::optional<int> common;
    bool well, saved;
  };
  for (const Row& row : {Row{{75, 75}, 2, 75, false, true}, Row{{75, 75}, 3, {}, false, false},
                         Row{{75, 3}, 2, {}, false, false}, Row{{0, 0}, 2, {}, true, false},
                         Row{{0, 75}, 2, {}, false, true}, Row{{75, 143}, 2, {}, false, false},
                         Row{{0, 0}, 3, {}, false, false}, Row{{0, 130}, 2, {}, false, false},
                         Row{{143, 143}, 2, {}, false, false}, Row{{}, 2, {}, false, false}}) {
    launch::MonitorRecord record;
    for (std::size_t r = 0; r < row.statuses.size(); ++r)
      record.ends.emplace(static_cast<std::uint32_t>(r), row.statuses[r]);
    CHECK(launch::find_common_end(record, row.ranks) == row.common);
    CHECK(launch::all_ended_well(record, row.ranks) == row.well);
    CHECK(launch::all_saved(record, row.ranks) == row.saved);
  }
}

TEST_CASE("after a signal to the ranks an end with 75 is no failure, and before it is one") {
  for (const bool signalled : {false, true}) {
    tests::MonitoredRun run;
    if (signalled) run.watch.expect_saves();
    run.say(1, RankStatus::ended, {}, 75);
    CHECK(run.watch.record().first_failure.has_value() == !signalled);
    run.say(0, RankStatus::ended, {}, 9);
    CHECK(run.watch.record().first_failure->rank == (signalled ? 0 : 1));
    CHECK(run.watch.record().ends.at(1) == 75);
  }
}

TEST_CASE("a host that reports no end while others do was lost; the launcher's word comes first") {
  Run run;
  run.pass(10, "12");
  run.say(0, RankStatus::ended, {}, 143, 15);
  Run named = run, good = run, ended = run, reported = run;
  run.watch.finish(true, {});
  CHECK(run.watch.record().lost_hosts == std::vector<std::string>{"h2"});
  named.watch.finish(true, {false, "h7", "", false});
  CHECK(named.watch.record().lost_hosts == std::vector<std::string>{"h7"});
  // A supervisor that was killed with its rank: its daemon reported that.
  reported.watch.finish(true, {false, "", "h2", false});
  CHECK(reported.watch.record().lost_hosts.empty());
  // mpirun loses its daemon while it ends a job whose rank failed there.
  Run failed;
  failed.pass(10, "12");
  failed.say(3, RankStatus::ended, {}, 127, 0);
  failed.watch.finish(true, {false, "h2", "", false});
  CHECK(failed.watch.record().lost_hosts.empty());
  // A program that is missing on one host ends the job before the other host reports.
  Run missing;
  missing.pass(10, "12");
  const RankReport unstarted{0, "h1", RankStatus::ended, {}, 127, 0, ENOENT};
  missing.watch.take_line(launch::render_status_line("T", unstarted), missing.start + seconds(10));
  missing.watch.finish(true, {});
  CHECK(missing.watch.record().lost_hosts.empty());
  ended.watch.finish(true, {false, "h1", "", false});
  CHECK(ended.watch.record().lost_hosts == std::vector<std::string>{"h1"});
  good.watch.finish(false, {});
  CHECK(good.watch.record().lost_hosts.empty());
}

TEST_CASE("lines of others pass byte for byte") {
  Run run;
  CHECK(run.watch.take_line("half a line", run.start) == "half a line");
  CHECK(run.watch.take_line(
            "half" + launch::render_status_line("T", {0, "h1", RankStatus::heartbeat, {}, 0, 0}),
            run.start) == "half");
}

TEST_SUITE_END();
