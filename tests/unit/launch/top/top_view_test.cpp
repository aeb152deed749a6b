// SPDX-License-Identifier: MIT
#include "launch/top/top_view.hpp"

#include "launch/top/slowest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace ddlrun::launch;

namespace {

RankState top_rank(std::uint32_t number, RankPhase phase, int cpu, int quiet = 0) {
  RankState state;
  state.rank = number;
  state.host = number / 4;
  state.cores = 2;
  state.phase = phase;
  state.cpu_percent = cpu;
  state.resident_kib = 1024 * (number + 1);
  state.quiet_s = quiet;
  return state;
}

// Eight ranks on two hosts that all compute.
TopInput top_job() {
  TopInput input;
  input.run.id = "20261121-031914-abcdef";
  input.run.program = {"/usr/bin/python3", "/home/u/train.py", "--epochs", "3"};
  input.run.rank_count = 8;
  input.run.hosts = {"node1", "node2"};
  input.run.launcher = "srun";
  input.run.job = "4711";
  input.seconds = 3723;
  UsageState& usage = input.usage.emplace();
  usage.hosts = {{"node1", TrafficRate{1024, 2048}}, {"node2", TrafficRate{4096, 0}}};
  for (std::uint32_t i = 0; i < 8; ++i) usage.ranks.push_back(top_rank(i, RankPhase::running, 190));
  return input;
}

std::string picture_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<std::uint32_t> numbers_of(const std::vector<const RankState*>& ranks) {
  std::vector<std::uint32_t> found;
  for (const RankState* one : ranks) found.push_back(one->rank);
  return found;
}

}  // namespace

TEST_SUITE_BEGIN("launch/top/top_view");

TEST_CASE("the picture: head, a row for each rank, and no more columns than there are") {
  TopInput input = top_job();
  input.usage->ranks[3] = top_rank(3, RankPhase::waiting, 0, 65);
  input.usage->ranks[5].last_line = "step 77, loss 0.5, and more that an 80th column cuts";
  input.progress = TrainingProgress{TrainingStep{1200, 0.4321, 1234.56}, std::nullopt, 12};
  CHECK(picture_of(render_top(input, {80, 0, TopOrder::automatic, false, false})) ==
        "run 20261121-031914-abcdef: running, 1:02:03   srun, job 4711\n"
        "program: python3 train.py --epochs 3\n"
        "ranks: 8 on 2 hosts: 7 running, 1 waiting\n"
        "progress: step 1200, loss 0.4321, 1234.6 images/s (0:12 ago)\n"
        "slowest: none stands out\n"
        "network: node2 in 4 MiB/s out 0 bytes/s; node1 in 1 MiB/s out 2 MiB/s\n"
        "\n"
        "  RANK  HOST   CORES  STATE      CPU %      MEMORY     WAITS  LAST OUTPUT\n"
        "     0  node1      2  running       95       1 MiB         -\n"
        "     1  node1      2  running       95       2 MiB         -\n"
        "     2  node1      2  running       95       3 MiB         -\n"
        "     3  node1      2  waiting        0       4 MiB      1:05\n"
        "     4  node2      2  running       95       5 MiB         -\n"
        "     5  node2      2  running       95       6 MiB         -  step 77, loss 0.5,\n"
        "     6  node2      2  running       95       7 MiB         -\n"
        "     7  node2      2  running       95       8 MiB         -\n");
  for (const std::size_t columns : {1, 40, 80, 200})
    for (const std::string& line : render_top(input, {columns, 24, TopOrder::cpu, true, false}))
      CHECK(line.size() <= columns);
  const std::string wide = picture_of(render_top(input, {200, 0, TopOrder::automatic, false, false}));
  CHECK(wide.find("READ+WRITE") != std::string::npos);
  const std::string narrow = picture_of(render_top(input, {60, 0, TopOrder::automatic, false, false}));
  CHECK(narrow.find("network: node2 in 4 MiB/s out 0 bytes/s; and 1 more\n") != std::string::npos);
  CHECK(wide.find("an 80th column cuts") != std::string::npos);
}

TEST_CASE("of a run that stands still: who holds it up, what to type, and where each rank waits") {
  TopInput input = top_job();
  UsageState& usage = *input.usage;
  usage.hosts.resize(1);
  usage.ranks.resize(3);
  for (std::uint32_t rank : {0u, 1u}) {
    usage.ranks[rank] = top_rank(rank, RankPhase::waiting, 0, 70);
    usage.ranks[rank].is_in = "futex_do_wait";
  }
  usage.ranks[2] = top_rank(2, RankPhase::waiting, 0, 75);
  usage.ranks[2].is_in = "hrtimer_nanosleep";
  usage.ranks[2].last_line = usage.ranks[0].last_line = "step 77";
  usage.standstill = Standstill{
      "note",
      {"rank 2 on node1 has moved no bytes for 75 s, nor have the other 2: process 7 (python3) sleeps in "
       "hrtimer_nanosleep; the others seem to wait for it",
       "node1", "ssh -t node1 py-spy dump --pid 7"},
      {2}};
  CHECK(picture_of(render_top(input, {99, 0, TopOrder::automatic, false, false})) ==
        "run 20261121-031914-abcdef: running, 1:02:03   srun, job 4711\n"
        "program: python3 train.py --epochs 3\n"
        "ranks: 3 on 1 host: 3 waiting\n"
        "stall: rank 2 on node1 has moved no bytes for 75 s, nor have the other 2: process 7 (python3)\n"
        "       sleeps in hrtimer_nanosleep; the others seem to wait for it\n"
        "try:   ssh -t node1 py-spy dump --pid 7\n"
        "network: node1 in 1 MiB/s out 2 MiB/s\n"
        "\n"
        "  RANK  HOST   CORES  STATE      CPU %      MEMORY     WAITS  IN                 LAST OUTPUT\n"
        "     0  node1      2  waiting        0       1 MiB      1:10  futex_do_wait      step 77\n"
        "     1  node1      2  waiting        0       2 MiB      1:10  futex_do_wait\n"
        ">    2  node1      2  waiting        0       3 MiB      1:15  hrtimer_nanosleep  step 77\n");
  CHECK(numbers_of(sort_ranks(usage, TopOrder::telling)).front() == 2);
  const auto lines = render_top(input, {99, 30, TopOrder::rank, true, true});
  CHECK(std::ranges::count_if(lines, [](auto& line) { return line.starts_with("\x1b[1;31m>    2"); }) == 1);
  usage.over = true;
  usage.standstill.reset();
  CHECK(picture_of(render_top(input, {})).find("stall:") == std::string::npos);
}

TEST_CASE("a screen is filled to its last line, and names how many ranks it does not show") {
  TopInput input = top_job();
  input.usage->ranks[6] = top_rank(6, RankPhase::ended, -1);
  input.usage->ranks[6].exit_status = 137;
  for (const std::size_t rows : {10, 12, 16, 24, 50}) {
    CAPTURE(rows);
    const auto lines = render_top(input, {80, rows, TopOrder::automatic, true, false});
    CHECK(lines.size() == rows);
    CHECK(lines.back().starts_with("q quit"));
  }
  const std::string few = picture_of(render_top(input, {80, 12, TopOrder::automatic, true, false}));
  CHECK(few.find("and 5 more\n") != std::string::npos);
  CHECK(few.find("     6  node2      2  signal 9") != std::string::npos);          // the most telling one
  CHECK(render_top(input, {80, 3, TopOrder::automatic, true, false}).size() > 3);  // the terminal cuts it
}

TEST_CASE("foreign texts are no control characters, and colours surround whole lines") {
  TopInput input = top_job();
  const std::string evil = "\x1b[2J\x07\xc2\x9b evil";
  input.run.id = input.run.launcher = input.run.job = input.running_on = evil;
  input.run.program = {evil};
  input.usage->hosts[0].name = evil;
  input.usage->ranks[0].last_line = input.usage->ranks[1].is_in = evil;
  input.usage->ranks[2] = top_rank(2, RankPhase::stopped, 0, 5);
  for (const std::string& line : render_top(input, {})) {
    CAPTURE(line);
    CHECK(std::none_of(line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }));
    CHECK(line.find("\xc2\x9b") == std::string::npos);
  }
  TopLook look{80, 24, TopOrder::rank, true, true};
  for (const std::string& line : render_top(input, look)) {
    if (line.find('\x1b') == std::string::npos) continue;
    CHECK(line.starts_with("\x1b["));
    CHECK(line.ends_with("\x1b[0m"));
  }
  look.colour = false;
  CHECK(picture_of(render_top(input, look)).find('\x1b') == std::string::npos);
}

TEST_CASE("characters of several bytes count as one, and none is cut in two") {
  CHECK(clip_line("a\xc3\xa4\xe2\x82\xac!", 3) == "a\xc3\xa4\xe2\x82\xac");
  CHECK(clip_line("abc", 0) == "abc");
  CHECK(clip_line("\xff\xff\xff", 2) == "\xff\xff");
}

TEST_CASE("ranks by use, memory, waiting time, and what is most telling") {
  UsageState usage = *top_job().usage;
  usage.ranks[1] = top_rank(1, RankPhase::ended, -1);
  usage.ranks[2] = top_rank(2, RankPhase::waiting, 0, 30);
  usage.ranks[3] = top_rank(3, RankPhase::silent, -1, 40);
  usage.ranks[4] = top_rank(4, RankPhase::stopped, 0, 10);
  usage.ranks[5] = top_rank(5, RankPhase::ended, -1);
  usage.ranks[5].exit_status = 1;
  usage.ranks[6].cpu_percent = 60;
  CHECK(numbers_of(sort_ranks(usage, TopOrder::rank)) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(numbers_of(sort_ranks(usage, TopOrder::telling)) ==
        std::vector<std::uint32_t>{5, 4, 3, 2, 6, 0, 7, 1});
  CHECK(numbers_of(sort_ranks(usage, TopOrder::memory)) ==
        std::vector<std::uint32_t>{7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(numbers_of(sort_ranks(usage, TopOrder::wait)) == std::vector<std::uint32_t>{3, 2, 4, 0, 6, 7, 1, 5});
  CHECK(numbers_of(sort_ranks(usage, TopOrder::cpu)) == std::vector<std::uint32_t>{0, 7, 6, 1, 2, 3, 4, 5});
  // Where most wait, those that work are the telling ones.
  for (const std::uint32_t i : {0, 6, 7}) usage.ranks[i] = top_rank(i, RankPhase::waiting, 0, 9);
  usage.ranks[7] = top_rank(7, RankPhase::running, 200);
  CHECK(numbers_of(sort_ranks(usage, TopOrder::telling))[3] == 7);
}

TEST_CASE("which rank holds the others up") {
  UsageState usage = *top_job().usage;
  CHECK(describe_slowest(usage) == "none stands out");
  usage.ranks[6].cpu_percent = 60;
  CHECK(describe_slowest(usage) == "rank 6 on node2 uses 30 % of its cores, the others 95 %");
  for (std::uint32_t i = 0; i < 8; ++i)
    if (i != 3) usage.ranks[i] = top_rank(i, RankPhase::waiting, 0, 9);
  CHECK(describe_slowest(usage) == "rank 3 on node1 works while 7 of 8 ranks wait");
  usage.ranks[4] = top_rank(4, RankPhase::running, 190);
  CHECK(describe_slowest(usage) == "ranks 3-4 work while 6 of 8 ranks wait");
  usage.ranks[5] = top_rank(5, RankPhase::silent, -1, 61);
  CHECK(describe_slowest(usage) == "rank 5 on node2 is silent, for 1:01");
  usage.ranks[2] = top_rank(2, RankPhase::stopped, 0, 12);
  CHECK(describe_slowest(usage) == "rank 2 on node1 is stopped, for 0:12");
  for (std::uint32_t i = 0; i < 8; ++i) usage.ranks[i] = top_rank(i, RankPhase::waiting, 0, 9);
  CHECK(describe_slowest(usage) == "none works: all 8 wait");
}

TEST_CASE("before the first report, and after the end") {
  TopInput input = top_job();
  input.usage.reset();
  CHECK(picture_of(render_top(input, {})).find("none has reported yet") != std::string::npos);
  input = top_job();
  input.age_s = 75;
  CHECK(picture_of(render_top(input, {})).find("this is 1:15 old") != std::string::npos);
  input.state = RunState::ended;
  input.run.end = RunEnd{"2026-11-21T04:20:15Z", 7, 0};
  input.usage->over = true;
  input.usage->ranks[0] = top_rank(0, RankPhase::ended, 190);
  const std::string end = picture_of(render_top(input, {}));
  CHECK(end.find(": status 7, ") != std::string::npos);
  CHECK(end.find("ranks: 8 on 2 hosts: 1 ok, 7 unknown") != std::string::npos);
  CHECK(end.find("slowest") == std::string::npos);
  CHECK(end.find(" old") == std::string::npos);
}

TEST_CASE("the last step and epoch of a piece of the trainer's metrics") {
  const TrainingProgress progress = find_progress(
      "s\": 3}\n"
      R"({"type":"step","step":10,"loss":0.5,"images_s":100})"
      "\n"
      R"({"type":"epoch","epoch":2,"train_loss":0.4,"test_loss":0.5,"test_accuracy":0.9})"
      "\n"
      R"({"type":"step","step":20,"loss":0.25,"images_s":110})"
      "\n");
  REQUIRE(progress.step);
  CHECK(progress.step->step == 20);
  REQUIRE(progress.epoch);
  CHECK(progress.epoch->epoch == 2);
}
