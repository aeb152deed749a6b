// SPDX-License-Identifier: MIT
#include "launch/history/run_record.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace ddlrun;
using launch::RunRecord;

namespace {

constexpr std::chrono::system_clock::time_point start{std::chrono::seconds(1795231154)};

// Every field has a value of its own.
RunRecord full_record() {
  RunRecord record;
  record.id = "20261121-031914-abc";
  record.start = launch::render_time(start);
  record.start_us = 1795231154123456;
  record.end = launch::RunEnd{launch::render_time(start + std::chrono::seconds(5)), 143, 15};
  record.host = "login1";
  record.workdir = "/work";
  record.program = {"./prog", "a\"b", "c\n"};
  record.dims = "2x1x1";
  record.rank_count = 2;
  record.exported = {"PATH"};
  record.launcher = "openmpi";
  record.mpirun = "/usr/bin/mpirun";
  record.ddlrun_version = "0.1.0";
  record.mpirun_version = "4.1.4";
  record.kernel = "6.1";
  record.watched =
      launch::RunMonitoring{launch::RunFailure{1, "h2", 143, 15, 2, "did not respond", {{0, "h1", 1}}},
                            {{1, "h2", 60, "T", 77, "work"}},
                            {"h3"},
                            {"h4"},
                            "rank 1 waits",
                            "note"};
  record.verified = true;
  record.process = {4711, 123456789012, "boot-id"};
  record.typed = launch::TypedLaunch{{"--verify", "2x1x1"}, {"./prog"}};
  record.replay_of = "r";
  record.restart_of = "s";
  record.restarts = 3;
  record.job = "4711";
  record.result = "/runs/result";
  record.output = "files tee";
  record.network = "ib0: because";
  record.remarks = {"remark"};
  record.findings = {"finding"};
  record.reasons = {{"-x PATH", "why"}};
  record.digests = {{"PATH", launch::render_digest("/bin")}};
  record.diagnosis = "diagnosis";
  record.cause_is_known = true;
  record.last_lines = {"line"};
  record.hosts = {"h1", "h2"};
  record.machine_of_host = {0, 1};
  record.ranks = {{0, 0, "h1", "0:0", "0", 0, "h1", "0", "ok", ""},
                  {1, 0, "h2", "0:1", "1", std::nullopt, "", "", "silent", "no report"}};
  return record;
}

}  // namespace

TEST_SUITE_BEGIN("launch/history/run_record");

TEST_CASE("times are written in UTC") {
  // date -u -d @1795231154
  CHECK(launch::render_time(start) == "2026-11-21T03:19:14Z");
  CHECK(launch::render_time_for_names(start) == "20261121-031914");
  CHECK(launch::parse_run_time(launch::render_time(start)) == 1795231154);
}

TEST_CASE("a record that is read and written again is the same text, and no field is lost") {
  const std::string text = launch::render_run_json(full_record());
  const RunRecord read = launch::parse_run_json(text, "run.json");
  CHECK(launch::render_run_json(read) == text);
  const auto document = nlohmann::json::parse(text);
  for (const auto& [key, value] : document.items()) {
    CAPTURE(key);
    CHECK_FALSE(value.is_null());
    const bool is_empty = (value.is_string() || value.is_structured()) && value.empty();
    CHECK_FALSE(is_empty);
  }
  CHECK(read.process.started_ticks == 123456789012);
  CHECK(read.program == full_record().program);
  CHECK(launch::parse_run_json(text, "run.json", false).rank_count == 2);
}

TEST_CASE("a run that has begun, and one that has ended") {
  RunRecord record = full_record();
  record.end.reset();
  record.watched.reset();
  record.verified = false;
  record.result.clear();
  const auto begun = nlohmann::json::parse(launch::render_run_json(record));
  CHECK(begun["schema"] == "ddlrun.run/1");
  CHECK(begun["end"].is_null());
  CHECK(begun["start_us"] == 1795231154123456);
  CHECK(begun["result"].is_null());
  CHECK(begun["ranks"].size() == 2);
  CHECK(begun["ranks"][0].contains("found_pus") == false);
  CHECK(begun["program"][1] == "a\"b");
  const auto ended = nlohmann::json::parse(launch::render_run_json(full_record()));
  CHECK(ended["end"]["exit_status"] == 143);
  CHECK(ended["end"]["time"] == "2026-11-21T03:19:19Z");
  CHECK(ended["ranks"][0]["verdict"] == "ok");
  CHECK(ended["ranks"][1]["verdict"] == "silent");
  CHECK(ended["ranks"][1]["found_pus"].is_null());
  record.ranks.clear();
  CHECK(nlohmann::json::parse(launch::render_run_json(record))["ranks"].empty());
  record.program = {"\xff"};  // no UTF-8: replaced, not refused
  CHECK(nlohmann::json::parse(launch::render_run_json(record))["program"][0] == "\uFFFD");
}

TEST_CASE("a record with a host that is none is refused: messages have it in commands") {
  const std::string text = launch::render_run_json(full_record());
  const auto refusal = [](const nlohmann::json& json) {
    try {
      launch::parse_run_json(json.dump(), "run.json");
    } catch (const Error& error) {
      return error.message().what;
    }
    return std::string("read");
  };
  for (const std::string& bad : {std::string("-oProxyCommand=touch${IFS}x"), std::string("$(touch x)")}) {
    CAPTURE(bad);
    for (const char* place : {"/host", "/hosts/0", "/ranks/0/host", "/ranks/0/found_host",
                              "/watched/first_failure/host", "/watched/lost_hosts/0"}) {
      CAPTURE(place);
      auto json = nlohmann::json::parse(text);
      json[nlohmann::json::json_pointer(place)] = bad;
      CHECK(refusal(json) == "the record of this run is damaged: '" + bad + "' is no host name");
    }
  }
  auto json = nlohmann::json::parse(text);
  for (const char* good : {"", "481516234212", "h1.site-x.org"}) {
    json["host"] = good;
    CHECK(refusal(json) == "read");
  }
}

TEST_SUITE_END();
