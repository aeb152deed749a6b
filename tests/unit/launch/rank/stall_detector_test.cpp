// SPDX-License-Identifier: MIT
// When is a rank reported to stall: samples over time go in, the moments of the telling come out.
#include "launch/rank/stall_detector.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace ddlrun;
using launch::sample_interval;
using launch::StallDetector;
using launch::StallEvent;

namespace {

using Time = StallDetector::Time;
using std::chrono::milliseconds;
using std::chrono::seconds;

// What a rank does in one stretch of time.
struct Stretch {
  int seconds;
  bool works;        // CPU time goes up
  char state = 'S';  // while it does not
  bool writes = false;
  int gap = 0;            // seconds in which no one looked, before it
  double background = 0;  // cores that threads of its libraries use
  bool spins = false;     // the CPU time of `works` goes into waiting
  bool has_gpu = false;
  double delayed = 0;  // cores that it would use and does not get
  int calls = 0;       // a second, that move bytes
  int bytes_of_call = 30;
  int threads = 1;      // that make the calls
  bool answers = true;  // they read as often as they write
  double cores = 0.05;  // of `works`
};

struct JudgedStall {
  StallEvent::Kind kind;
  int at;       // seconds after the start
  int seconds;  // as reported
  char state;
};

TreeSnapshot first_sample() {
  TreeSnapshot sample;
  sample.pid = 7;
  return sample;
}

void move(TreeSnapshot& sample, int thread, std::uint64_t calls, int bytes_of_call, bool answers) {
  const std::uint64_t reads = answers ? calls / 2 : 0,
                      bytes = calls * static_cast<std::uint64_t>(bytes_of_call);
  for (IoCount* io : {&sample.io, &sample.io_of[thread]}) {
    io->bytes += bytes;
    io->reads += reads;
    io->writes += calls - reads;
  }
}

std::vector<JudgedStall> judge(int after, const std::vector<Stretch>& stretches) {
  const Time start{};
  Time now = start;
  bool spins = false;
  StallDetector judge(after, start, [&](int) {
    return spins ? CodeSamples{{"libopen-pal.so.40", 100}} : CodeSamples{{"train", 100}};
  });
  TreeSnapshot sample = first_sample();
  std::vector<JudgedStall> reported;
  const auto every = sample_interval(after);
  for (const Stretch& stretch : stretches) {
    now += seconds(stretch.gap);
    spins = stretch.spins;
    for (const Time end = now + seconds(stretch.seconds); now < end; now += every) {
      sample.state = stretch.works ? 'S' : stretch.state;
      const double cores = stretch.works ? stretch.cores : stretch.background;
      sample.cpu_ns += static_cast<std::uint64_t>(cores * 1e6 * static_cast<double>(every.count()));
      sample.delayed_ns +=
          static_cast<std::uint64_t>(stretch.delayed * 1e6 * static_cast<double>(every.count()));
      sample.main_ns = sample.cpu_ns;
      sample.has_gpu = stretch.has_gpu;
      const auto calls = static_cast<std::uint64_t>(stretch.calls * every.count() / 1000);
      for (int thread = 1; thread <= stretch.threads; ++thread)
        move(sample, 100 + thread, calls, stretch.bytes_of_call, stretch.answers);
      if (stretch.writes) move(sample, 7, 1, 1, false);
      const StallEvent judgement = judge.take(now, sample);
      if (judgement.kind == StallEvent::nothing) continue;
      const auto at = std::chrono::duration_cast<seconds>(now - start).count();
      reported.push_back(
          {judgement.kind, static_cast<int>(at), judgement.stall.seconds, judgement.stall.state});
    }
  }
  return reported;
}

}  // namespace

TEST_SUITE_BEGIN("launch/rank/stall_detector");

TEST_CASE("a stall is reported in time, once, and its end too") {
  struct Row {
    const char* what;
    std::vector<Stretch> stretches;
    std::vector<StallEvent::Kind> kinds;
  };
  const std::vector<Row> rows{
      {"works all the time", {{600, true}}, {}},
      {"only writes", {{600, false, 'S', true}}, {}},
      {"runnable, but gets no CPU: the machine is full", {{600, false, 'R'}}, {}},
      {"short sleeps", {{30, true}, {40, false}, {10, true}, {40, false}, {10, true}}, {}},
      {"stopped", {{100, true}, {100, false, 'T'}}, {StallEvent::stalled}},
      {"stopped, then goes on",
       {{100, true}, {100, false, 'T'}, {50, true}},
       {StallEvent::stalled, StallEvent::resumed}},
      {"stopped forever is reported once", {{100, true}, {5000, false, 'T'}}, {StallEvent::stalled}},
      {"stopped twice",
       {{9, true}, {90, false, 'T'}, {9, true}, {90, false, 'T'}},
       {StallEvent::stalled, StallEvent::resumed, StallEvent::stalled}},
      {"asleep, then stopped",
       {{9, true}, {90, false, 'S'}, {90, false, 'T'}},
       {StallEvent::stalled, StallEvent::stalled}},
      {"never did anything", {{100, false, 'S'}}, {StallEvent::stalled}},
      {"asleep, while Gloo's thread wakes up",
       {{100, true}, {100, false, 'S', false, 0, 0.002}},
       {StallEvent::stalled}},
      {"never got a core", {{600, false, 'S', false, 0, 0.01, false, false, 0.9}}, {}},
      {"polls in PyTorch's TCPStore",
       {{100, true}, {100, false, 'S', false, 0, 0.0083}},
       {StallEvent::stalled}},
      {"polls, and was just about to look",
       {{100, true}, {100, false, 'R', false, 0, 0.0083, false, false, 0.001}},
       {StallEvent::stalled}},
      {"a GPU may work while its CPU sleeps", {{600, false, 'S', false, 0, 0.0083, false, true}}, {}},
      {"its GPU waits too",
       {{100, true}, {100, false, 'S', false, 0, 0.001, false, true}},
       {StallEvent::stalled}},
      {"polls in the store of PyTorch 2.4",
       {{100, true}, {100, false, 'S', false, 0, 0.0083, false, false, 0, 100}},
       {StallEvent::stalled}},
      {"polls in that store, and prints lines",
       {{600, false, 'S', true, 0, 0.0083, false, false, 0, 100}},
       {}},
      {"sums 17 floats with Gloo 8 times a second",
       {{600, false, 'S', false, 0, 0.015, false, false, 0, 70, 50, 3, false}},
       {}},
      {"writes small messages, one thread",
       {{600, false, 'S', false, 0, 0.01, false, false, 0, 70, 50, 1, false}},
       {}},
      {"two threads exchange small messages",
       {{600, false, 'S', false, 0, 0.01, false, false, 0, 70, 50, 2}},
       {}},
      {"waits for a slow disk", {{600, false, 'S', false, 0, 0.0001, false, false, 0, 3, 65536}}, {}},
      {"small messages at full speed", {{600, true, 'S', false, 0, 0, false, false, 0, 20000}}, {}},
      {"the machine was suspended", {{100, true}, {20, false, 'S', false, 3600}, {9, true}}, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    std::vector<StallEvent::Kind> kinds;
    for (const JudgedStall& reported : judge(60, row.stretches)) kinds.push_back(reported.kind);
    CHECK(kinds == row.kinds);
  }
}

// Measured on two cores with 34 processes that spin: who polls 100 times a second is delayed for 0.15 of its
// time, and each of its polls needs more time of its core.
TEST_CASE("on a busy machine a rank that waits goes on only with evidence") {
  const Stretch works{100, true}, waits{100, false};
  const auto polls = [](int time, double share, double delayed = 0, int calls = 0) {
    return Stretch{time, false, 'S', false, 0, share, false, false, delayed, calls};
  };
  constexpr auto stalled = StallEvent::stalled, resumed = StallEvent::resumed;
  struct Row {
    const char* what;
    std::vector<Stretch> stretches;
    std::vector<StallEvent::Kind> kinds;
  };
  const std::vector<Row> rows{
      {"one late sample", {works, waits, {100, false, 'S', false, 25}}, {stalled}},
      {"one sample with the CPU time of 2.1 % of a core", {works, waits, polls(5, 0.021), waits}, {stalled}},
      {"two of them, and later two more",
       {works, waits, polls(10, 0.021), waits, polls(10, 0.021), waits},
       {stalled}},
      {"its polls wait for a core most of the time", {works, waits, polls(100, 0.01, 0.6)}, {stalled}},
      {"polls in a store",
       {works, polls(100, 0.01, 0, 100), polls(5, 0.021, 0.15, 100), polls(100, 0.01, 0.6, 100)},
       {stalled}},
      {"polls in a store become few",
       {works, polls(100, 0.01, 0, 100), polls(100, 0.01, 0.85, 15)},
       {stalled}},
      {"it writes a line", {works, waits, {5, false, 'S', true}}, {stalled, resumed}},
      {"it works, with a small part of a core", {works, waits, polls(100, 0.05, 0.9)}, {stalled, resumed}},
      {"it was stopped, and works again",
       {works, {100, false, 'T'}, {5, true}, {20, false}},
       {stalled, resumed}},
      {"one stray sample of its code while it spins",
       {works, {200, true, 'S', false, 0, 0, true}, {5, true}, {100, true, 'S', false, 0, 0, true}},
       {stalled}},
      {"it has spun, and computes", {works, {200, true, 'S', false, 0, 0, true}, works}, {stalled, resumed}},
      {"it ends", {works, waits, {5, false, 'Z'}}, {stalled}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    std::vector<StallEvent::Kind> kinds;
    for (const JudgedStall& reported : judge(60, row.stretches)) kinds.push_back(reported.kind);
    CHECK(kinds == row.kinds);
  }
}

TEST_CASE("a rank that works again after a wait is reported to go on within three samples") {
  const auto reported = judge(60, {{100, true}, {100, false}, {100, true}});
  REQUIRE(reported.size() == 2);
  CHECK(reported[1].at - 200 <= 10);
}

TEST_CASE(
    "a rank that slept or stood, and is busy, goes on, also where the kernel permits no samples of its "
    "code") {
  for (const char state : {'S', 'T', 't', 'D'}) {
    CAPTURE(state);
    StallDetector detector(60, Time{}, [](int) { return CodeSamples(); });
    TreeSnapshot sample = first_sample();
    std::vector<StallEvent::Kind> kinds;
    for (int at = 0; at <= 100; at += 5) {
      sample.state = at > 60 ? 'R' : state;
      if (at > 60) sample.cpu_ns += 5'000'000'000;
      const StallEvent event = detector.take(Time{} + seconds(at), sample);
      if (event.kind != StallEvent::nothing) kinds.push_back(event.kind);
    }
    CHECK(kinds == std::vector{StallEvent::stalled, StallEvent::resumed});
  }
}

TEST_CASE("where every sample comes late, a stall is reported all the same") {
  StallDetector detector(60, Time{});
  TreeSnapshot sample = first_sample();
  std::vector<int> stalls;
  for (int at = 0; at <= 400; at += 20) {
    const StallEvent event = detector.take(Time{} + seconds(at), sample);
    if (event.kind != StallEvent::nothing) stalls.push_back(event.stall.seconds);
  }
  CHECK(stalls == std::vector<int>{50});
}

TEST_CASE("a thread that ended or began may have moved any bytes") {
  const auto stalls_with = [](int ended_until) {
    StallDetector detector(60, Time{});
    TreeSnapshot sample = first_sample();
    int stalls = 0;
    for (int at = 0; at <= 100; at += 5) {
      move(sample, 101, 500, 30, true);
      if (at < ended_until) {
        sample.io_of.erase(1000 + at - 5);
        sample.io_of[1000 + at] = {};
      }
      stalls += detector.take(Time{} + seconds(at), sample).kind == StallEvent::stalled;
    }
    return stalls;
  };
  CHECK(stalls_with(100) == 0);
  CHECK(stalls_with(10) == 1);
}

TEST_CASE("a rank that polls is reported otherwise than one that sleeps, once") {
  for (const double share : {0.0, 0.0083}) {
    CAPTURE(share);
    const auto reported =
        judge(60, {{100, true}, {100, false, 'S', false, 0, share}, {100, false, 'S', false, 0, 0}});
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].state == (share > 0 ? 'P' : 'S'));
  }
}

TEST_CASE(
    "a rank that spins in MPI is reported within one and a half times --stall-timeout, with the library") {
  const Stretch computes{100, true}, waits{200, true, 'S', false, 0, 0, true},
      transfers{200, true, 'S', true, 0, 0, true};
  const auto reported = judge(60, {computes, waits, computes});
  REQUIRE(reported.size() == 2);
  CHECK(reported[0].kind == StallEvent::stalled);
  CHECK(reported[0].state == 'R');
  CHECK(reported[0].at - 100 <= 90);
  CHECK(reported[1].kind == StallEvent::resumed);
  CHECK(judge(60, {computes, transfers, computes}).empty());
  CHECK(judge(60, {{20, true, 'S', false, 0, 0, true}, computes}).empty());
}

TEST_CASE("a rank that computes without a byte is reported once, until it waits or moves a byte") {
  const auto at_full_speed = [](int time, bool writes = false, bool spins = false) {
    Stretch stretch{time, true, 'R', writes, 0, 0, spins};
    stretch.cores = 1;
    return stretch;
  };
  const auto reported = judge(60, {at_full_speed(100), {10, false}, at_full_speed(40), {10, false}});
  REQUIRE(reported.size() == 2);
  CHECK(reported[0].kind == StallEvent::computes);
  CHECK(reported[0].at <= 60);
  CHECK(reported[0].seconds >= 45);
  CHECK(reported[0].state == 'C');
  CHECK(reported[1].kind == StallEvent::resumed);
  CHECK(judge(60, {at_full_speed(600, true)}).empty());
  Stretch starved{100, true};  // on a core that it shares with many
  starved.cores = 0.03;
  starved.delayed = 0.9;
  CHECK(judge(60, {at_full_speed(100), starved, at_full_speed(100)}).size() == 1);
  CHECK(judge(60, {{600, true}}).empty());  // at 5 % of a core
  // MPI's wait at full speed is a stall of its own.
  const auto waits = judge(60, {at_full_speed(100), at_full_speed(100, false, true)});
  REQUIRE(waits.size() == 3);
  CHECK(waits[0].kind == StallEvent::computes);
  CHECK(waits[1].kind == StallEvent::resumed);
  CHECK(waits[2].kind == StallEvent::stalled);
  // It may wait itself where its code is not known: no samples, or those of a library for GPUs.
  for (const CodeSamples& samples : {CodeSamples(), CodeSamples{{"libcuda.so.1", 90}, {"train", 10}}}) {
    StallDetector detector(60, Time{}, [&](int) { return samples; });
    TreeSnapshot sample = first_sample();
    std::vector<StallEvent> events;
    for (int at = 0; at <= 100; at += 5) {
      sample.cpu_ns += 5'000'000'000;
      const StallEvent event = detector.take(Time{} + seconds(at), sample);
      if (event.kind != StallEvent::nothing) events.push_back(event);
    }
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == StallEvent::computes);
    CHECK(events[0].stall.waits_in.empty());
  }
}

TEST_CASE("few samples of a rank that gets little CPU time are added up") {
  StallDetector detector(60, Time{}, [](int) { return CodeSamples{{"libmpi.so.40", 4}}; });
  TreeSnapshot sample = first_sample();
  int stalls = 0;
  for (int at = 0; at <= 100; at += 5) {
    sample.cpu_ns += 50'000'000;
    stalls += detector.take(Time{} + seconds(at), sample).kind == StallEvent::stalled;
  }
  CHECK(stalls == 1);
}

TEST_CASE("few samples of the code of a rank that computes are added up, and its report waits for them") {
  StallDetector detector(60, Time{}, [](int) { return CodeSamples{{"python3.11", 2}}; });
  TreeSnapshot sample = first_sample();
  std::vector<StallEvent> events;
  for (int at = 0; at <= 100; at += 5) {
    sample.cpu_ns += 500'000'000;
    sample.delayed_ns += 4'400'000'000;
    const StallEvent event = detector.take(Time{} + seconds(at), sample);
    if (event.kind != StallEvent::nothing) events.push_back(event);
  }
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == StallEvent::computes);
  CHECK(events[0].stall.waits_in == "python3.11");
}

TEST_CASE("the code of a rank is sampled only where it has moved no byte for long") {
  int samples = 0;
  StallDetector detector(60, Time{}, [&](int) { return ++samples, CodeSamples{{"train", 100}}; });
  TreeSnapshot sample = first_sample();
  for (int at = 0; at <= 100; at += 5) {
    sample.cpu_ns += 5'000'000'000;
    if (at <= 50) ++sample.io.bytes;
    if (at == 70) CHECK(samples == 0);
    detector.take(Time{} + seconds(at), sample);
  }
  CHECK(samples == 6);
}

TEST_CASE(
    "a stall is reported at most --stall-timeout seconds after the last progress, and not long before") {
  for (const int after : {2, 5, 10, 60, 120, 600, 86'400}) {
    CAPTURE(after);
    const int works = 3 * after;
    const auto reported = judge(after, {{works, true}, {2 * after, false, 'T'}});
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].at - works <= after);
    CHECK(reported[0].at - works >= after * 7 / 10);
    CHECK(reported[0].seconds <= after);
    CHECK(reported[0].state == 'T');
  }
  CHECK(sample_interval(60) == milliseconds(5000));
  CHECK(sample_interval(1) == milliseconds(100));
  CHECK(sample_interval(86'400) == milliseconds(10'000));
}

TEST_SUITE_END();
