// SPDX-License-Identifier: MIT
#include "launch/history/run_record.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace ddlrun;
using launch::PlaceReport;
using launch::RunRecord;

namespace {

RunRecord example() {
  RunRecord record;
  record.id = "20261121-031914-abc";
  record.dims = "2";
  record.program = {"./prog", "a\"b", "\xff\n"};
  record.start = std::chrono::system_clock::time_point(std::chrono::seconds(1795231154));
  record.placement = {launch::check_placement({0, 0, "h", "0:0", {0}, 1}, PlaceReport{0, 0, "h", {0}}, {"h"}),
                      launch::check_placement({1, 1, "h", "0:1", {1}, 1}, std::nullopt, {"h"})};
  return record;
}

}  // namespace

TEST_SUITE_BEGIN("launch/history/run_record");

TEST_CASE("times are reported in UTC") {
  // date -u -d @1795231154
  CHECK(launch::render_time(example().start) == "2026-11-21T03:19:14Z");
  CHECK(launch::render_time_for_names(example().start) == "20261121-031914");
}

TEST_CASE("a run that has begun, and one that has ended") {
  RunRecord record = example();
  const auto begun = nlohmann::json::parse(launch::render_run_json(record));
  CHECK(begun["schema"] == "ddlrun.run/1");
  CHECK(begun["end"].is_null());
  CHECK(begun["start_us"] == 1795231154000000);
  CHECK(begun["result"].is_null());
  CHECK(begun["ranks"].size() == 2);
  CHECK(begun["ranks"][0].contains("found_pus") == false);
  CHECK(begun["program"][1] == "a\"b");
  record.end = launch::RunEnd{record.start + std::chrono::seconds(5), 143, 15};
  record.verified = true;
  const auto ended = nlohmann::json::parse(launch::render_run_json(record));
  CHECK(ended["end"]["exit_status"] == 143);
  CHECK(ended["end"]["time"] == "2026-11-21T03:19:19Z");
  CHECK(ended["ranks"][0]["verdict"] == "ok");
  CHECK(ended["ranks"][1]["verdict"] == "silent");
  CHECK(ended["ranks"][1]["found_pus"].is_null());
  record.placement.clear();
  CHECK(nlohmann::json::parse(launch::render_run_json(record))["ranks"].empty());
}

TEST_CASE("argv and environment as files") {
  CHECK(launch::render_argv_file({"mpirun", "a b"}, "mpirun 'a b'") == "# mpirun 'a b'\nmpirun\n'a b'\n");
  CHECK(launch::render_argv_file({"a\nb"}, "'a\nb'").find("# 'a\n") == std::string::npos);
  CHECK(launch::render_argv_nul({"a\nb", "", "c"}) == std::string("a\nb\0\0c\0", 7));
  launch::Exports exports;
  exports.names = {"PATH", "KEY"};
  exports.set_by_user = {{"KEY", "s3cret"}};
  CHECK(launch::render_environment_names({{"HOME", "/h"}, {"PATH", "/bin"}}, exports) ==
        "exported KEY\nexported PATH\npresent HOME\n");
}

TEST_SUITE_END();
