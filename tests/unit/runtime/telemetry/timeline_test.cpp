// SPDX-License-Identifier: MIT
#include "runtime/telemetry/timeline.hpp"

#include "runtime/comm/thread_communicator.hpp"
#include "runtime/telemetry/timeline_clock.hpp"
#include "runtime/telemetry/timeline_json.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

namespace ddlrun::runtime {
namespace {

using std::chrono::nanoseconds;

// A directory that goes with the test.
struct Directory {
  std::string path;
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "ddlrun-timeline-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Directory() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return path + "/" + name; }
};

TraceClock::time_point at_ns(std::int64_t ns) { return TraceClock::time_point(nanoseconds(ns)); }

PartFacts some_part(int rank, int ranks, std::uint64_t run = 7) {
  PartFacts facts;
  facts.run = run;
  facts.rank = rank;
  facts.ranks = ranks;
  facts.host = "h" + std::to_string(rank);
  facts.images_per_step = 64;
  facts.wall_ns = static_cast<std::int64_t>(run);
  facts.start_ns = 1000;
  return facts;
}

nlohmann::json read_json(const std::string& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}

// Events of one kind, or of all.
std::vector<nlohmann::json> events_of(const nlohmann::json& trace, const std::string& phase) {
  std::vector<nlohmann::json> found;
  for (const auto& event : trace.at("traceEvents"))
    if (event.at("ph") == phase) found.push_back(event);
  return found;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/telemetry/timeline");

// namespace

TEST_CASE("timeline: spans of all lanes are read back as they were reported") {
  const Directory directory;
  const std::string file = directory / "t.json";
  const std::string name = "conv1 \"forward\"\n";
  {
    Timeline timeline(file, some_part(0, 1));
    timeline.span(TraceLane::compute, name, at_ns(2000), at_ns(5500));
    timeline.span(TraceLane::sums, "bucket 0", at_ns(3000), at_ns(9000), 4096);
    timeline.on_step({3, 1, 0.5, 0.1, 0.25, 0.0});
  }
  const Part part = read_part(part_name(file, 0));
  CHECK(part.facts.host == "h0");
  CHECK(part.recorded == 3);
  REQUIRE(part.spans.size() == 3);
  CHECK(part.names.at(part.spans[0].name) == name);
  CHECK(part.spans[0].duration_ns == 3500);
  CHECK(part.spans[1].value == 4096);
  CHECK(part.spans[1].lane == PartLane::sums);
  CHECK(part.spans[2].value == 3);
  CHECK(part.spans[2].duration_ns == 250'000'000);
}

TEST_CASE("timeline: a ring keeps the last spans and counts those that are gone") {
  const Directory directory;
  const std::string file = directory / "t.json";
  {
    Timeline timeline(file, some_part(0, 1), std::size_t{10} * 32);
    for (int i = 0; i < 25; ++i) timeline.span(TraceLane::compute, "x", at_ns(100 * i), at_ns(100 * i + 50));
  }
  const Part part = read_part(part_name(file, 0));
  CHECK(part.recorded == 25);
  REQUIRE(part.spans.size() == 10);
  CHECK(part.spans.front().begin_ns == 1500);
  CHECK(part.spans.back().begin_ns == 2400);
}

TEST_CASE("timeline: many threads tell, nothing is lost or torn") {
  const Directory directory;
  const std::string file = directory / "t.json";
  const std::vector<std::string> names{"a", "b", "c", "d"};
  {
    Timeline timeline(file, some_part(0, 1));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < names.size(); ++t) {
      threads.emplace_back([&, t] {
        for (std::int64_t i = 1; i <= 5000; ++i)
          timeline.span(TraceLane::input, names[t], at_ns(i), at_ns(2 * i),
                        static_cast<std::uint64_t>(i) * (t + 1));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const Part part = read_part(part_name(file, 0));
  REQUIRE(part.spans.size() == 20000);
  std::map<std::string, std::int64_t> sums;
  for (const PartSpan& span : part.spans) {
    const std::string& name = part.names.at(span.name);
    sums[name] += span.begin_ns;
    CHECK(span.duration_ns == span.begin_ns);
    CHECK(span.value ==
          static_cast<std::uint64_t>(span.begin_ns) * static_cast<std::uint64_t>(name[0] - 'a' + 1));
  }
  for (const std::string& name : names) CHECK(sums[name] == 5000 * 5001 / 2);
}

TEST_CASE("timeline: more names than there is room for become one") {
  const Directory directory;
  const std::string file = directory / "t.json";
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) names.push_back("name " + std::to_string(i) + std::string(60, 'x'));
  {
    Timeline timeline(file, some_part(0, 1));
    for (int round = 0; round < 2; ++round)
      for (const std::string& name : names) timeline.span(TraceLane::compute, name, at_ns(1), at_ns(2));
  }
  const Part part = read_part(part_name(file, 0));
  CHECK(part.spans.size() == 6000);
  std::set<std::string> known;
  for (const PartSpan& span : part.spans) known.insert(part.names.at(span.name));
  CHECK(known.count("(other)") == 1);
  CHECK(known.count(names.front()) == 1);
  CHECK(known.size() > 500);
}

TEST_CASE("timeline: a part that is cut off, damaged or another file is refused by name") {
  const Directory directory;
  const std::string file = directory / "t.json";
  const std::string part = part_name(file, 0);
  { Timeline(file, some_part(0, 1), 3200).span(TraceLane::compute, "x", at_ns(1), at_ns(2)); }
  std::string whole(std::filesystem::file_size(part), '\0');
  std::ifstream(part, std::ios::binary).read(whole.data(), static_cast<std::streamsize>(whole.size()));
  const auto put = [&](const std::string& bytes) {
    std::ofstream(part, std::ios::binary | std::ios::trunc) << bytes;
  };
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{4095}, std::size_t{4096},
                                   std::size_t{4096 + 65536 + 31}, whole.size() - 1}) {
    CAPTURE(length);
    put(whole.substr(0, length));
    expect_error(ErrorKind::request, "cut short", [&] { read_part(part); });
  }
  put(std::string(whole.size(), 'x'));
  expect_error(ErrorKind::request, "from another version", [&] { read_part(part); });
  expect_error(ErrorKind::request, "cannot be read", [&] { read_part(directory / "none"); });
  // Any byte may be wrong: either it is refused, or what is read stays within bounds.
  put(whole);
  std::fstream file_bytes(part, std::ios::binary | std::ios::in | std::ios::out);
  const auto put_byte = [&](std::size_t at, char byte) {
    file_bytes.seekp(static_cast<std::streamoff>(at));
    file_bytes.put(byte).flush();
  };
  int refused = 0;
  const auto check_damaged = [&](std::size_t at) {
    put_byte(at, static_cast<char>(~whole[at]));
    try {
      const Part read = read_part(part);
      CHECK(read.spans.size() <= 100);
      for (const PartSpan& span : read.spans) CHECK(span.name < read.names.size());
    } catch (const Error&) {
      ++refused;
    }
    put_byte(at, whole[at]);
  };
  for (std::size_t i = 0; i < 520; ++i) check_damaged(i);                     // the header
  for (std::size_t i = 0; i < 64; ++i) check_damaged(4096 + i);               // the names
  for (std::size_t i = 0; i < 64; ++i) check_damaged(4096 + (64 << 10) + i);  // the records
  CHECK(refused > 16);
}

TEST_CASE("timeline: clocks are bounded by the gathers that both ranks were in") {
  struct Row {
    const char* name;
    std::vector<ClockRound> first, mine;
    std::int64_t offset, error;
  };

  const Row rows[] = {
      {"one clock", {{100, 110}}, {{101, 111}}, 0, 11},
      {"5 s apart", {{100, 110}}, {{5'000'000'100, 5'000'000'110}}, -5'000'000'000, 10},
      {"the narrowest of all",
       {{100, 110}, {200, 201}},
       {{5'000'000'100, 5'000'000'110}, {5'000'000'200, 5'000'000'201}},
       -5'000'000'000,
       1},
      {"late in, both bounds shrink", {{0, 100}}, {{9'000'000'090, 9'000'000'100}}, -9'000'000'045, 55},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const ClockReading reading = fit_clock(row.first, row.mine);
    CHECK(std::abs(reading.offset_ns - row.offset) <= row.error);
    CHECK(reading.error_ns <= row.error);
  }
  const ClockReading drift[] = {{0, 100, 1}, {1000, 200, 1}};
  CHECK(align_time(drift, 500) == 500 + 150);
  CHECK(align_time({drift, 1}, 500) == 600);
  CHECK(align_time({}, 500) == 500);
}

TEST_CASE("timeline: rows hold spans beside or within each other") {
  std::vector<PartSpan> spans;
  for (const auto& [begin, duration] : {std::pair{0, 100}, {10, 20}, {20, 30}, {25, 5}, {100, 10}, {100, 0}})
    spans.push_back({begin, duration, 0, 0, PartLane::input});
  CHECK(plan_rows(spans, PartLane::input) == std::vector<int>{0, 0, 1, 0, 0, -1});
  CHECK(plan_rows(spans, PartLane::compute) == std::vector<int>(6, -1));
}

TEST_CASE("timeline: ranks become one file, on one clock, with arrows and counters, and the parts go") {
  const Directory directory;
  const std::string file = directory / "t.json";
  run_ranks_as_threads(3, [&](Communicator& ranks) {
    // The last rank's disk is one that rank 0 does not see.
    const std::string own = ranks.rank() == 2 ? directory / "elsewhere.json" : file;
    std::unique_ptr<Timeline> timeline = start_timeline(own, 64, ranks);
    const auto start = TraceClock::now();
    timeline->span(TraceLane::compute, "conv1 backward", start, start + nanoseconds(1000));
    timeline->span(TraceLane::compute, "bucket 0", start + nanoseconds(1000), start + nanoseconds(1000));
    timeline->span(TraceLane::sums, "bucket 0", start + nanoseconds(1200), start + nanoseconds(5200), 4096);
    timeline->on_step({1, 1, 0.5, 0.1, 0.001, 0.0});
    const TimelineReport report = finish_timeline(file, std::move(timeline), ranks);
    if (ranks.rank() == 0) {
      CHECK(report.found == std::vector<int>{0, 1, 2});
      CHECK(report.spans == 12);
      CHECK(report.dropped == 0);
      CHECK(report.problems.empty());
    }
  });
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path))
    left.push_back(entry.path().filename());
  CHECK(left == std::vector<std::string>{"t.json"});
  const auto trace = read_json(file);
  CHECK(events_of(trace, "X").size() == 9);  // the moment when the bucket was ready is none
  CHECK(events_of(trace, "C").size() == 6);
  const auto starts = events_of(trace, "s");
  const auto ends = events_of(trace, "f");
  REQUIRE(starts.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(starts[i].at("id") == ends[i].at("id"));
    CHECK(starts[i].at("pid") == ends[i].at("pid"));
    CHECK(ends[i].at("ts").get<double>() - starts[i].at("ts").get<double>() == doctest::Approx(0.201));
  }
  for (const auto& event : events_of(trace, "C")) {
    if (event.at("name") == "images/s") CHECK(event.at("args").at("images/s") == 64000.0);
    if (event.at("name") == "bytes summed") CHECK(event.at("args").at("bytes") == 4096);
  }
}

TEST_CASE("timeline: what a run left is merged, and parts of another run are named") {
  const Directory directory;
  const std::string file = directory / "t.json";
  expect_error(ErrorKind::request, "no part of a timeline", [&] { merge_timeline(file); });
  for (const auto& [rank, run] : {std::pair{0, 9}, {1, 9}, {5, 8}}) {
    Timeline timeline(file, some_part(rank, rank == 5 ? 6 : 3, static_cast<std::uint64_t>(run)));
    timeline.span(TraceLane::compute, "x", at_ns(2000 + rank), at_ns(3000));
  }
  std::ofstream(part_name(file, 2)) << "short";
  std::ofstream(directory / "t.json.rankX.part") << "no number";
  const TimelineReport report = merge_timeline(file);
  CHECK(report.found == std::vector<int>{0, 1});
  CHECK(report.ranks == 3);
  REQUIRE(report.problems.size() == 2);
  CHECK(report.problems[0].find("rank2.part: a part of the timeline is cut short") != std::string::npos);
  CHECK(report.problems[1].find("rank5.part: a part of another run") != std::string::npos);
  const auto spans = events_of(read_json(file), "X");
  REQUIRE(spans.size() == 2);
  CHECK(spans[1].at("ts").get<double>() == 1.001);  // microseconds after the start at 1000 ns
  CHECK(spans[1].at("dur").get<double>() == 0.999);
}

TEST_CASE(
    "timeline: a directory that is not there, and a disk without room, are refused before the training") {
  expect_error(ErrorKind::request, "cannot be created", [] { Timeline("/no/such/t.json", some_part(0, 1)); });
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
