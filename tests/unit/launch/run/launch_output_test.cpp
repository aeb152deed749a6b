// SPDX-License-Identifier: MIT
#include "launch/run/launch_output.hpp"

#include "base/text/error.hpp"
#include "launch/monitor/rank_files.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::LaunchOutput;
using launch::OutputFramer;
using launch::OutputSpec;
using launch::RankStream;
using Mode = OutputSpec::Mode;

namespace {

struct Ranks {
  OutputFramer zero{"tok", 0}, one{"tok", 1};
  std::string err_lines;

  void talk(LaunchOutput& output) {
    CHECK(output.take(zero.mark(RankStream::out, "zero ")).empty());
    CHECK(output.take(one.mark(RankStream::out, "one\n")).empty());
    CHECK(output.take(one.mark(RankStream::err, "oops\n")).empty());
    CHECK(output.take("mpirun says\n") == "mpirun says\n");
    CHECK(output.take(zero.mark(RankStream::out, "goes on\nno end")).empty());
    for (OutputFramer* marker : {&zero, &one})
      for (const RankStream stream : {RankStream::out, RankStream::err})
        output.take(marker->mark(stream, ""));
    output.finish();
  }
  std::function<void(std::uint32_t, std::string_view)> on_err() {
    return [this](std::uint32_t rank, std::string_view line) {
      err_lines += std::to_string(rank) + ":" + std::string(line);
    };
  }
};

// A disk that is full.
struct FullFiles : tests::FakeFiles {
  void append(const std::string& path, std::string_view) override {
    throw Error(ErrorKind::request,
                {"cannot append to " + path + ": No space left on device", path, "df -h"});
  }
};

}  // namespace

TEST_SUITE_BEGIN("launch/run/launch_output");

TEST_CASE("a frame of a rank that the job does not have is dropped") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  LaunchOutput output(system, {Mode::files, false}, "/run", "tok", {}, 2);
  CHECK(output.take(OutputFramer("tok", 65535).mark(RankStream::out, "forged\n")).empty());
  CHECK(output.take(OutputFramer("tok", 2).mark(RankStream::out, "forged\n")).empty());
  CHECK(output.take(OutputFramer("tok", 1).mark(RankStream::out, "own\n")).empty());
  output.flush();
  CHECK(fake.files.files.contains(launch::rank_file("/run", 1, RankStream::out)));
  CHECK_FALSE(fake.files.files.contains(launch::rank_file("/run", 2, RankStream::out)));
  CHECK_FALSE(fake.files.files.contains(launch::rank_file("/run", 65535, RankStream::out)));
}

TEST_CASE("each way of showing what ranks say") {
  struct Row {
    OutputSpec plan;
    std::string out, err;
    bool files;
  };
  const std::vector<Row> rows{
      {{Mode::prefix, false}, "[1] one\n[0] zero goes on\n[0] no end\n", "[1] oops\n", false},
      {{Mode::prefix, true}, "[1] one\n[0] zero goes on\n[0] no end\n", "[1] oops\n", true},
      {{Mode::files, true}, "one\nzero goes on\nno end", "oops\n", true},
      {{Mode::files, false}, "", "", true}};
  for (const Row& row : rows) {
    CAPTURE(row.out);
    CAPTURE(row.files);
    tests::FakeSystem fake;
    System system = fake.interfaces();
    Ranks ranks;
    LaunchOutput output(system, row.plan, "/run", "tok", ranks.on_err(), 2);
    ranks.talk(output);
    CHECK(fake.out == row.out);
    CHECK(fake.err == row.err);
    CHECK(ranks.err_lines == "1:oops\n");
    CHECK(fake.files.files.count("/run/out/rank-0000.out") == (row.files ? 1 : 0));
    if (!row.files) continue;
    CHECK(fake.files.files["/run/out/rank-0000.out"] == "zero goes on\nno end");
    CHECK(fake.files.files["/run/out/rank-0001.out"] == "one\n");
    CHECK(fake.files.files["/run/out/rank-0001.err"] == "oops\n");
    CHECK(fake.files.synced.count("/run/out/rank-0001.err") == 1);
  }
}

TEST_CASE("a full disk ends the files, not the job, and loses no line") {
  tests::FakeSystem fake;
  FullFiles full;
  System system = fake.interfaces();
  System with_full{fake.processes, full, fake.clock, fake.environment, system.out, system.err};
  Ranks ranks;
  LaunchOutput output(with_full, {Mode::files, false}, "/run", "tok", ranks.on_err(), 2);
  output.take(ranks.one.mark(RankStream::out, "first\nsecond"));
  output.take(ranks.zero.mark(RankStream::err, "oops\n"));
  output.flush();
  CHECK(fake.err.find("No space left") != std::string::npos);
  output.take(ranks.one.mark(RankStream::out, "shown\n"));
  output.finish();
  CHECK(fake.out == "[1] first\n[1] second\n[1] shown\n");
  CHECK(fake.err.find("[0] oops\n") != std::string::npos);
}

TEST_CASE("what a launcher dropped is reported") {  // in the middle, and at the end
  tests::FakeSystem fake;
  System system = fake.interfaces();
  Ranks ranks;
  LaunchOutput output(system, {Mode::files, false}, "/run", "tok", {}, 2);
  output.take(ranks.one.mark(RankStream::out, "a"));
  ranks.one.mark(RankStream::out, "b");
  output.take(ranks.one.mark(RankStream::out, "c"));
  output.finish();
  CHECK(fake.err.find("of 1 stream of the ranks the end did not come") != std::string::npos);
  CHECK(fake.err.find("512 bytes of the ranks' output never arrived") != std::string::npos);
}

TEST_SUITE_END();
