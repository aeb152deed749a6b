// SPDX-License-Identifier: MIT
#include "launch/top/top_input.hpp"

#include "base/text/error.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::launch;

namespace {

struct WatchedRun : tests::FakeSystem {
  System system = interfaces();
  RunRecord run;
  UsageState usage;

  WatchedRun() {
    run.id = "r";
    run.host = "here";
    run.start = "1970-01-01T00:16:40Z";  // 1000 s
    run.program = {"train", "--metrics", "m.jsonl"};
    run.workdir = "/work";
    usage.hosts = {{"h1", std::nullopt}};
    usage.ranks.resize(1);
    at(1010, 1010);
    write();
  }
  void at(int now_s, int written_s) {
    clock.time = std::chrono::system_clock::time_point(std::chrono::seconds(now_s));
    usage.written_s = written_s;
  }
  void write() {
    files.files["/runs/r/run.json"] = render_run_json(run);
    files.files["/runs/r/usage.json"] = render_usage_json(usage);
  }
};

}  // namespace

TEST_SUITE_BEGIN("launch/top/top_input");

TEST_CASE(
    "a run with news runs, on whichever host; the record is read again where there is none, and at the end") {
  WatchedRun watched;
  watched.run.host = "other";
  watched.write();
  TopReader reader(watched.system, "/runs/r");
  CHECK(reader.read().state == RunState::running);
  CHECK(reader.read().running_on == "other");
  CHECK(reader.read().seconds == 10);
  CHECK(reader.read().age_s == 0);
  watched.at(1060, 1010);
  CHECK(reader.read().state == RunState::elsewhere);
  CHECK(reader.read().age_s == 50);
  CHECK_FALSE(reader.read().is_over());
  watched.at(1062, 1062);
  watched.write();
  CHECK(reader.read().state == RunState::running);
  watched.usage.over = true;
  watched.run.end = RunEnd{"1970-01-01T00:17:45Z", 7, 0};
  watched.write();
  CHECK(reader.read().state == RunState::ended);
  CHECK(reader.read().is_over());
  CHECK(reader.read().seconds == 65);
}

TEST_CASE("the state that launch has not written yet, and one that is damaged") {
  WatchedRun watched;
  watched.files.files.erase("/runs/r/usage.json");
  TopReader reader(watched.system, "/runs/r");
  CHECK_FALSE(reader.read().usage);
  watched.files.files["/runs/r/usage.json"] = "{";
  CHECK_THROWS_AS(reader.read(), Error);
}

TEST_CASE("progress comes from the trainer's metrics, not from a file of another program") {
  WatchedRun watched;
  TopReader reader(watched.system, "/runs/r");
  CHECK_FALSE(reader.read().progress);
  const std::string step = R"({"type":"step","step":10,"loss":0.5,"images_s":100})";
  watched.files.files["/work/m.jsonl"] = step + "\n";
  CHECK_FALSE(reader.read().progress);
  watched.files.files["/work/m.jsonl"] = R"({"type":"config","schema":"ddlrun.train.metrics/1"})"
                                         "\n" +
                                         step + "\n";
  REQUIRE(reader.read().progress);
  CHECK(reader.read().progress->step->images_per_second == 100);
}
