// SPDX-License-Identifier: MIT
#include "launch/monitor/usage_state.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ddlrun;
using namespace ddlrun::launch;
using std::chrono::seconds;

namespace {

struct UsageRun {
  RankStates::Time start{};
  RankStates states{{{0, 0, "h1", "", {}, 4}, {1, 1, "h1", "", {}, 4}, {2, 0, "h2", "", {}, 0}}, start};

  void use(std::uint32_t rank, int at, RankUsage usage) {
    RankReport report;
    report.rank = rank;
    report.usage = usage;
    states.take(report, start + seconds(at));
  }
  void report(std::uint32_t rank, int at, RankStatus sign, Stall stall = {}, int status = 0) {
    RankReport report;
    report.rank = rank;
    report.sign = sign;
    report.stall = stall;
    report.exit_status = status;
    states.take(report, start + seconds(at));
  }
  RankState at(int time, std::uint32_t rank) {
    return states.look(start + seconds(time), 1000).ranks.at(rank);
  }
};

}  // namespace

TEST_SUITE_BEGIN("launch/monitor/usage_state");

TEST_CASE("a rank starts, runs, waits, is stopped, is silent, and ends") {
  UsageRun run;
  CHECK(run.at(0, 0).phase == RankPhase::starting);
  run.report(0, 1, RankStatus::heartbeat);  // its supervisor, before the program
  CHECK(run.at(1, 0).phase == RankPhase::starting);
  run.use(0, 2, {380, 2048, 7, 0, false, {}});
  const RankState running = run.at(2, 0);
  CHECK(running.phase == RankPhase::running);
  CHECK(running.cpu_percent == 380);
  CHECK(running.cores == 4);
  CHECK(running.resident_kib == 2048);
  CHECK(running.quiet_s == 0);
  run.use(0, 4, {0, 2048, 0, 3, false, {}});
  CHECK(run.at(6, 0).phase == RankPhase::waiting);
  CHECK(run.at(6, 0).quiet_s == 5);
  run.use(0, 6, {0, 2048, 0, 5, true, {}});
  CHECK(run.at(6, 0).phase == RankPhase::stopped);
  CHECK(run.at(25, 0).phase == RankPhase::stopped);
  CHECK(run.at(27, 0).phase == RankPhase::silent);
  CHECK(run.at(27, 0).quiet_s == 21);
  run.use(0, 30, {100, 2048, 0, 0, false, {}});
  CHECK(run.at(30, 0).phase == RankPhase::running);
  run.report(0, 31, RankStatus::ended, {}, 7);
  CHECK(run.at(90, 0).phase == RankPhase::ended);
  CHECK(run.at(90, 0).exit_status == 7);
}

TEST_CASE("a rank that spins in a library waits, until it goes on") {
  UsageRun run;
  run.use(1, 60, {100, 1, 0, 0, false, {}});
  run.report(1, 60, RankStatus::stalled, {50, 'R', 9, "train", "libmpi.so.40"});
  run.use(1, 62, {100, 1, 0, 0, false, {}});
  CHECK(run.at(63, 1).phase == RankPhase::waiting);
  CHECK(run.at(63, 1).quiet_s == 53);
  CHECK(run.at(63, 1).is_in == "libmpi.so.40");
  run.report(1, 64, RankStatus::resumed, {55, 'S', 9, "", ""});
  CHECK(run.at(64, 1).phase == RankPhase::running);
  CHECK(run.at(64, 1).is_in.empty());
}

TEST_CASE("of a rank that computes while the others wait, the file of its code is kept") {
  UsageRun run;
  run.use(1, 60, {100, 1, 0, 0, false, {}});
  run.report(1, 60, RankStatus::computes, {50, 'C', 9, "python3", "python3.11"});
  CHECK(run.at(61, 1).is_in.empty());  // no other rank waits for it
  run.states.take_standstill(Standstill{"note", {"it computes", "h1", "gdb"}, {1}});
  CHECK(run.at(62, 1).is_in == "python3.11");
  CHECK(run.at(62, 1).phase == RankPhase::running);
  CHECK(run.at(62, 0).is_in.empty());
  run.report(1, 64, RankStatus::resumed, {});
  CHECK(run.at(64, 1).is_in.empty());
  CHECK_FALSE(run.states.finish(run.start + seconds(65), 1000).standstill);
}

TEST_CASE("the last whole line of output counts, also of a progress bar and in pieces") {
  UsageRun run;
  const auto line = [&] { return run.at(0, 1).last_line; };
  run.states.take_output(1, "step 1\nste");
  CHECK(line() == "step 1");
  run.states.take_output(1, "p 2\n\n  \n");
  CHECK(line() == "step 2");
  run.states.take_output(1, "10 %\r20 %\r30");
  CHECK(line() == "20 %");
  run.states.take_output(1, std::string(100'000, 'x'));
  run.states.take_output(1, "\n");
  CHECK(line().size() <= 120);
  run.states.take_output(77, "of a rank that is not planned\n");
}

TEST_CASE("what is written is read back, whatever the texts hold") {
  UsageRun run;
  run.use(0, 2, {380, 2048, 7, 0, false, TrafficRate{100, 200}});
  run.use(1, 2, {5, 1u << 30, 7, 9, false, {}});
  run.states.take_output(0, "\x1b[2J \"quoted\" \xff\xfe {\n");
  run.report(2, 3, RankStatus::ended, {}, 137);
  const Standstill standstill{
      "note", {"rank 1 \"waits\" " + std::string(300, 'x'), "h1", "gdb -p 7"}, {0, 1}};
  run.states.take_standstill(standstill);
  const std::string while_it_runs = render_usage_json(run.states.look(run.start + seconds(3), 1000));
  CHECK(parse_usage_json(while_it_runs, "usage.json").standstill == standstill);
  const UsageState& state = run.states.finish(run.start + seconds(5), 1234);
  CHECK(state.over);
  CHECK(state.hosts.size() == 2);
  const std::string text = render_usage_json(state);
  UsageState read = parse_usage_json(text, "usage.json");
  CHECK(read.ranks[0].last_line == "\\x1b[2J \"quoted\" \\xff\\xfe {");
  read.ranks[0].last_line = state.ranks[0].last_line;
  CHECK(read.ranks == state.ranks);
  CHECK(read.hosts == state.hosts);
  CHECK(read.written_s == 1234);
  CHECK(read.timeline.seconds == state.timeline.seconds);
  CHECK(read.timeline.series[0] == state.timeline.series[0]);
}

TEST_CASE("a document that is cut off or changed is refused, and never read beyond its end") {
  UsageRun run;
  run.use(0, 2, {380, 2048, 7, 0, false, TrafficRate{100, 200}});
  const std::string text = render_usage_json(run.states.look(run.start + seconds(2), 1000));
  for (std::size_t size = 0; size + 2 < text.size(); size += 7)
    CHECK_THROWS_AS(parse_usage_json(text.substr(0, size), "usage.json"), Error);
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"\"srr", "\"srrrrrrr"},
                                 {"ddlrun.usage/1", "ddlrun.usage/9"},
                                 {"\"host\": [0", "\"host\": [9"},
                                 {"\"phase\": \"r", "\"phase\": \"?"},
                                 {"\"schema\": \"ddlrun.usage/1\"", "\"schema\": 1"},
                                 {"\"hosts\": [[\"h1\"", "\"hosts\": [[7"},
                                 {"\"seconds\": [", "\"seconds\": [1,"}}) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    if (at == std::string::npos) continue;
    changed.replace(at, from.size(), to);
    CAPTURE(to);
    CHECK_THROWS_AS(parse_usage_json(changed, "usage.json"), Error);
  }
}

TEST_CASE("65,536 ranks take less than 3 MB, without a line of output for each") {
  std::vector<PlannedRank> planned;
  for (std::uint32_t rank = 0; rank < 65'536; ++rank)
    planned.push_back({rank, rank % 64, "node" + std::to_string(rank / 64), "", {}, 2});
  RankStates states(planned, {});
  for (std::uint32_t rank = 0; rank < planned.size(); ++rank) {
    RankReport report;
    report.rank = rank;
    report.usage = RankUsage{200, 3u << 20, 12345, 0, false, {}};
    states.take(report, RankStates::Time{} + seconds(1));
    states.take_output(rank, "epoch 1, step 12345, loss 0.1234, and more words of a trainer\n");
  }
  const UsageState& state = states.look(RankStates::Time{} + seconds(2), 1'800'000'000);
  CHECK(state.interval_s == 16);
  const std::string text = render_usage_json(state);
  CHECK(text.size() < 3'000'000);
  CHECK(parse_usage_json(text, "usage.json").ranks[65'535].resident_kib == 3u << 20);
}
