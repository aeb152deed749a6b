// SPDX-License-Identifier: MIT
#include "launch/history/history.hpp"

#include "base/text/error.hpp"
#include "launch/history/plan_gpus.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace ddlrun;
using launch::HistoryRow;
using launch::RunRecord;
using launch::RunState;

namespace {

constexpr const char* whole = R"({
  "schema": "ddlrun.run/1", "id": "20261121-031914-abc", "start": "2026-11-21T03:19:14Z",
  "start_us": 1795231154123456, "restart_of": "20261121-031900-xyz", "result": "/runs/x/result",
  "end": {"time": "2026-11-21T04:20:15Z", "exit_status": 139, "signal": 0},
  "host": "head", "workdir": "/w", "program": ["./p", "a b"], "dims": "2x2", "rank_count": 4,
  "exported": ["PATH"], "launcher": "Open MPI", "mpirun": "mpirun",
  "versions": {"ddlrun": "0.1.0", "mpirun": "4.1.4", "kernel": "6.1"},
  "watched": {"first_failure": {"rank": 3, "host": "h2", "exit_status": 139, "signal": 11},
              "stalls": [{"rank": 1, "host": "h1", "seconds": 60, "state": "T", "pid": 7, "process": "p"}],
              "silent_hosts": [], "lost_hosts": ["h2"]},
  "verified": true, "process": {"pid": 77, "started_ticks": 1234, "boot": "b"},
  "typed": {"words": ["--verify", "2x2"], "program": ["./p", "a b"]}, "replay_of": null,
  "reasons": [{"subject": "-x PATH", "why": "because"}], "digests": {"PATH": "0123"},
  "hosts": ["h1", "h2"], "machine_of_host": [0, 0],
  "ranks": [{"rank": 0, "local_rank": 0, "host": "h1", "slot": "0:0", "planned_pus": "0-1", "exit_status": null,
             "found_host": "h1", "found_pus": "0-1", "verdict": "ok"}]
})";

}  // namespace

TEST_SUITE_BEGIN("launch/history/history");

TEST_CASE("a run's record is read back") {
  const RunRecord run = launch::parse_run_json(whole, "run.json");
  CHECK(run.id == "20261121-031914-abc");
  CHECK(run.start_us == 1795231154123456);
  CHECK(run.restart_of == "20261121-031900-xyz");
  CHECK(run.result == "/runs/x/result");
  CHECK(run.program == std::vector<std::string>{"./p", "a b"});
  REQUIRE(run.watched.has_value());
  REQUIRE(run.watched->first_failure.has_value());
  CHECK(run.watched->first_failure->signal == 11);
  CHECK(run.watched->stalls.at(0).process == "p");
  CHECK(run.process.pid == 77);
  REQUIRE(run.typed.has_value());
  CHECK(run.typed->words == std::vector<std::string>{"--verify", "2x2"});
  CHECK(run.reasons.at(0).why == "because");
  CHECK(run.ranks.at(0).verdict == "ok");
  CHECK_FALSE(run.ranks.at(0).exit_status.has_value());
  const RunRecord head = launch::parse_run_json(whole, "run.json", false);
  CHECK(head.ranks.empty());
  CHECK(head.hosts.size() == 2);
}

TEST_CASE("an older record, and what is no record") {
  const RunRecord old = launch::parse_run_json(R"({"schema": "ddlrun.run/1", "id": "x", "end": null,
    "dims": null, "watched": null, "ranks": []})",
                                               "run.json");
  CHECK_FALSE(old.end.has_value());
  CHECK_FALSE(old.typed.has_value());
  CHECK(old.process.pid == 0);
  const std::string half(whole, 300);
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), half,
        std::string(R"({"schema": "ddlrun.run/2"})"), std::string(R"({"schema": "ddlrun.run/1", "id": 7})"),
        std::string(R"({"schema": "ddlrun.run/1", "ranks": [7]})")}) {
    CAPTURE(text);
    CHECK_THROWS_AS(launch::parse_run_json(text, "run.json"), Error);
  }
}

TEST_CASE("times") {
  // date -u -d ... +%s
  CHECK(launch::parse_run_time("2026-11-21T03:19:14Z") == 1795231154);
  CHECK(launch::parse_run_time("1970-01-01T00:00:00Z") == 0);
  for (const char* text : {"", "2026-11-21 03:19:14Z", "2026-13-21T03:19:14Z", "2026-11-21T03:19:14"})
    CHECK_FALSE(launch::parse_run_time(text).has_value());
  CHECK(launch::render_duration(59) == "0:59");
  CHECK(launch::render_duration(3723) == "1:02:03");
  CHECK(launch::render_duration(-5) == "0:00");
}

TEST_CASE("a saved part is no failure, and a stall is named") {
  RunRecord run = launch::parse_run_json(whole, "run.json", false);
  run.end->exit_status = 75;
  run.watched->first_failure = launch::RunFailure{0, "h1", 75, 0, 0};
  const HistoryRow saved = launch::history_row(run, "/runs/x", RunState::ended, 0);
  CHECK(launch::status_words(saved) == "saved");
  CHECK(saved.first_failure.empty());
  CHECK_FALSE(saved.failed());
  run.end->exit_status = 124;
  run.watched->first_failure = launch::RunFailure{0, "h1", 143, 15, 0};
  run.watched->stall = "rank 3 on h2 has moved no bytes for 54 s, nor have the other 3: process 9 (p) waits";
  run = launch::parse_run_json(launch::render_run_json(run), "run.json", false);
  CHECK(launch::history_row(run, "/runs/x", RunState::ended, 0).first_failure ==
        "ended because of a stall: rank 3 on h2 has moved no bytes for 54 s, nor have the other 3");
}

TEST_CASE("a rank that stood still or left has no status of its own") {
  RunRecord run = launch::parse_run_json(whole, "run.json", false);
  run.end->exit_status = 1;
  run.watched->first_failure =
      launch::RunFailure{1, "h2", 0, 0, 0, "did not respond while the other ranks waited for it"};
  CHECK(launch::history_row(run, "/runs/x", RunState::ended, 0).first_failure ==
        "rank 1 on h2: did not respond while the other ranks waited for it");
  run.watched->first_failure->absence.clear();  // as an older ddlrun wrote it
  CHECK(launch::history_row(run, "/runs/x", RunState::ended, 0).first_failure ==
        "rank 1 on h2: left, or did not respond, while the other ranks waited for it");
}

TEST_CASE("ranks that failed in the same second are named together") {
  RunRecord run = launch::parse_run_json(whole, "run.json", false);
  run.end->exit_status = 1;
  run.watched->first_failure = launch::RunFailure{2, "h2", 1};
  run.watched->first_failure->with = {{1, "h1", 1}};
  run = launch::parse_run_json(launch::render_run_json(run), "run.json", false);
  CHECK(run.watched->first_failure->with == std::vector<launch::RankEnd>{{1, "h1", 1}});
  CHECK(launch::history_row(run, "/runs/x", RunState::ended, 0).first_failure ==
        "ranks 2 on h2 and 1 on h1 within 1 s: status 1");
}

TEST_CASE("no rank is named of ranks that failed alike") {
  RunRecord run = launch::parse_run_json(whole, "run.json", false);
  run.end->exit_status = 1;
  run.watched->first_failure = launch::RunFailure{2, "h2", 1};
  run.watched->first_failure->alike = 4;
  run = launch::parse_run_json(launch::render_run_json(run), "run.json", false);
  CHECK(launch::history_row(run, "/runs/x", RunState::ended, 0).first_failure ==
        "all 4 ranks alike: status 1");
}

TEST_CASE("both ranks are named whose calls differ") {
  RunRecord run = launch::parse_run_json(whole, "run.json", false);
  run.end->exit_status = 1;
  run.watched->first_failure = launch::RunFailure{0, "h1", 1};
  run.watched->first_failure->differ = {1, 3};
  run = launch::parse_run_json(launch::render_run_json(run), "run.json", false);
  CHECK(launch::history_row(run, "/runs/x", RunState::ended, 0).first_failure ==
        "ranks 1 and 3 make different calls");
}

TEST_CASE("a run in a job shows what its job shows") {
  using launch::RunJob;
  RunRecord stopped = launch::parse_run_json(whole, "run.json", false);
  stopped.end->stopped_by = 15;
  stopped.end->exit_status = 143;
  stopped.watched->first_failure.reset();
  RunRecord open = stopped;
  open.end.reset();
  open.host = "node3";
  RunRecord failed = stopped;
  failed.end->stopped_by = 0;
  failed.end->exit_status = 7;
  RunRecord graceful = stopped;  // its program takes TERM and exits with 0
  graceful.end->exit_status = 0;
  struct Row {
    const RunRecord& run;
    RunState state;
    RunJob job;
    std::string cause, words, failure;
    bool failed;
  };
  const Row rows[] = {
      {stopped, RunState::ended, RunJob::timed_out, "", "timed out", "its job used up its time limit", true},
      {stopped, RunState::ended, RunJob::timed_out, "no rank makes progress", "timed out",
       "no rank makes progress", true},
      {stopped, RunState::ended, RunJob::over, "", "cancelled", "stopped by signal 15 (SIGTERM)", false},
      {graceful, RunState::ended, RunJob::timed_out, "", "timed out", "its job used up its time limit", true},
      {failed, RunState::ended, RunJob::timed_out, "", "status 7", "host h2 was lost", true},
      {open, RunState::elsewhere, RunJob::running, "", "running on node3", "", false},
      {open, RunState::elsewhere, RunJob::over, "", "ended unseen",
       "ddlrun was killed, the host went down, or the disk was full", true},
      {open, RunState::elsewhere, RunJob::timed_out, "", "timed out", "its job used up its time limit", true},
      {open, RunState::unseen, RunJob::timed_out, "", "timed out", "its job used up its time limit", true},
      {open, RunState::unseen, RunJob::cancelled, "", "cancelled", "its job was cancelled", false},
      {open, RunState::unseen, RunJob::over, "node3 failed", "ended unseen", "node3 failed", true},
      {open, RunState::unseen, RunJob::running, "", "ended unseen",
       "ddlrun was killed, the host went down, or the disk was full", true},
      {open, RunState::elsewhere, RunJob::unknown, "", "not known here, see node3", "", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.words);
    HistoryRow found = launch::history_row(row.run, "/runs/x", row.state, 0);
    launch::add_job(found, row.run, row.job, row.cause, 1795231154 + 61);
    CHECK(launch::status_words(found) == row.words);
    CHECK(found.first_failure == row.failure);
    CHECK(found.failed() == row.failed);
    CHECK((row.words.starts_with("running") ? found.seconds == 61 : found.seconds != 61));
  }
}

TEST_CASE("rows and their results") {
  const RunRecord run = launch::parse_run_json(whole, "run.json", false);
  const HistoryRow row = launch::history_row(run, "/runs/x", RunState::ended, 0);
  CHECK(row.seconds == 3661);
  CHECK(row.program == "./p 'a b'");
  CHECK(row.first_failure == "rank 3 on h2: signal 11");
  RunRecord missing = run;
  missing.watched->first_failure = launch::RunFailure{3, "h2", 127, 0, ENOENT};
  missing = launch::parse_run_json(launch::render_run_json(missing), "run.json", false);
  CHECK(launch::history_row(missing, "/runs/x", RunState::ended, 0).first_failure ==
        "rank 3 on h2: the program or its interpreter does not exist there");
  struct Row {
    RunState state;
    int status;
    std::string words;
    bool failed;
  };
  const std::vector<Row> rows{{RunState::ended, 0, "ok", false},
                              {RunState::ended, 7, "status 7", true},
                              {RunState::ended, 137, "signal 9", true},
                              {RunState::ended, 255, "status 255", true},
                              {RunState::running, 0, "running", false},
                              {RunState::unseen, 0, "ended unseen", true},
                              {RunState::elsewhere, 0, "not known here", false},
                              {RunState::damaged, 0, "damaged", false}};
  for (const Row& each : rows) {
    CAPTURE(each.words);
    HistoryRow one = row;
    one.state = each.state;
    one.exit_status = each.status;
    CHECK(launch::status_words(one) == each.words);
    CHECK(one.failed() == each.failed);
  }
  struct Stop {
    int stopped_by, status, rank_signal;
    std::string words, failure;
    bool failed;
  };
  for (const Stop& stop :
       {Stop{2, 130, 15, "cancelled", "stopped by signal 2 (SIGINT)", false},
        Stop{15, 143, 15, "cancelled", "stopped by signal 15 (SIGTERM)", false},
        Stop{2, 130, 11, "cancelled", "rank 3 on h2: signal 11", false},  // it crashed before
        Stop{10, 138, 10, "signal 10", "rank 3 on h2: signal 10", true},  // USR1 only warns
        Stop{10, 75, 0, "saved", "", false}, Stop{15, 0, 0, "cancelled", "", false},
        Stop{0, 143, 15, "signal 15", "rank 3 on h2: signal 15", true}}) {
    CAPTURE(stop.words);
    RunRecord stopped = run;
    stopped.end->stopped_by = stop.stopped_by;
    stopped.end->exit_status = stop.status;
    stopped.watched->first_failure.reset();
    if (stop.rank_signal != 0)
      stopped.watched->first_failure =
          launch::RunFailure{3, "h2", 128 + stop.rank_signal, stop.rank_signal, 0};
    stopped = launch::parse_run_json(launch::render_run_json(stopped), "run.json", false);
    const HistoryRow found = launch::history_row(stopped, "/runs/x", RunState::ended, 0);
    CHECK(launch::status_words(found) == stop.words);
    if (!stop.failure.empty()) CHECK(found.first_failure == stop.failure);
    CHECK(found.failed() == stop.failed);
  }
  RunRecord open = run;
  open.end.reset();
  CHECK(launch::history_row(open, "", RunState::running, 1795231154 + 61).seconds == 61);
  CHECK_FALSE(launch::history_row(open, "", RunState::unseen, 1795231154 + 61).seconds.has_value());
}

TEST_CASE("the table and the document") {
  const RunRecord run = launch::parse_run_json(whole, "run.json", false);
  HistoryRow damaged;
  damaged.id = "20261121-031915-\x1b[31m";
  damaged.state = RunState::damaged;
  damaged.problem = "half of it is missing";
  std::vector<HistoryRow> rows{launch::history_row(run, "/runs/x", RunState::ended, 0), damaged};
  rows[0].test_accuracy = 0.875;
  const std::string table = launch::render_history_table(rows, 200);
  CHECK(table.find("signal 11, 87.5 %") != std::string::npos);
  CHECK(table.find("2026-11-21 03:19  1:01:01  2x2") != std::string::npos);
  CHECK(table.find("signal 11") != std::string::npos);
  CHECK(table.find("half of it is missing") != std::string::npos);
  CHECK(table.find('\x1b') == std::string::npos);
  const auto json = nlohmann::json::parse(launch::render_history_json(rows));
  CHECK(json["schema"] == "ddlrun.history/1");
  CHECK(json["runs"][0]["exit_status"] == 139);
  CHECK(json["runs"][0]["result"] == "/runs/x/result");
  CHECK(json["runs"][1]["state"] == "damaged");
  CHECK(json["runs"][1]["exit_status"].is_null());
  CHECK(json["runs"][0]["test_accuracy"] == 0.875);
  CHECK(json["runs"][1]["test_accuracy"].is_null());
}

TEST_CASE("a long program is cut, so that the first failure stands within the screen") {
  HistoryRow row;
  row.id = "20261121-031915-abcdef";
  row.title = "python3 -c '" + std::string(100, 'x') + "END'";
  row.first_failure = "rank 1 on vm: status 3";
  for (const std::size_t columns : {80u, 150u}) {
    const std::string table = launch::render_history_table({row}, columns);
    CAPTURE(table);
    const std::string line = table.substr(table.find('\n') + 1);
    CHECK(line.find("xxx...  rank 1 on vm: status 3\n") != std::string::npos);
    CHECK(table.find("END") == std::string::npos);
    if (columns == 150) CHECK(line.size() == columns + 1);
  }
  CHECK(launch::render_history_table({row}, 400).find("END") != std::string::npos);
}

TEST_CASE("each rank's GPU, from plan.json") {
  // As topology/plan_json writes it: ranks without a GPU have no such member.
  const auto gpus = launch::parse_plan_gpus(
      R"({"schema": "ddlrun.plan/1", "ranks": [{"rank": 0, "host": "h1", "gpu": 2}, {"rank": 3, "gpu": 0},
          {"rank": 5, "host": "h2"}]})",
      "plan.json");
  CHECK(gpus == std::map<std::uint32_t, int>{{0, 2}, {3, 0}});
  CHECK(launch::parse_plan_gpus("{}", "plan.json").empty());
  CHECK(launch::parse_plan_gpus(R"({"ranks": null})", "plan.json").empty());
  for (const char* text :
       {"", "{\"ranks\": [{\"rank\": 0, \"gpu\"", R"({"ranks": [{"gpu": 1}]})",
        R"({"ranks": [{"rank": 0, "gpu": "1"}]})", R"({"ranks": [{"rank": "0", "gpu": 1}]})"}) {
    CAPTURE(text);
    std::string where;
    try {
      launch::parse_plan_gpus(text, "plan.json");
    } catch (const Error& error) {
      where = error.message().where;
    }
    CHECK(where == "plan.json");
  }
}

TEST_SUITE_END();
