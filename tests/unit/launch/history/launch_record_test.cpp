// SPDX-License-Identifier: MIT
#include "launch/history/launch_record.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::PlaceReport;

namespace {

std::vector<launch::PlacementRow> two_ranks() {
  return {launch::check_placement({0, 0, "h", "0:0", {0, 1}, 1}, PlaceReport{0, 0, "h", {0, 1}}, {"h"}),
          launch::check_placement({1, 1, "h", "0:1", {2}, 1}, std::nullopt, {"h"})};
}

}  // namespace

TEST_SUITE_BEGIN("launch/history/launch_record");

TEST_CASE("the id of the job, as its scheduler shows it") {
  Environment environment;
  CHECK(launch::find_job_id(environment).empty());
  environment.variables["PBS_JOBID"] = "3[1].pbs01";
  CHECK(launch::find_job_id(environment) == "3[1].pbs01");
  environment.variables["SLURM_JOB_ID"] = "10";
  CHECK(launch::find_job_id(environment) == "10");
  environment.variables["SLURM_ARRAY_JOB_ID"] = "9";
  environment.variables["SLURM_ARRAY_TASK_ID"] = "1";
  CHECK(launch::find_job_id(environment) == "9_1");
  environment.variables["DDLRUN_JOB_ID"] = "7_2";
  CHECK(launch::find_job_id(environment) == "7_2");
}

TEST_CASE("ranks before the run, and after it") {
  const auto before = launch::record_ranks(two_ranks(), false, std::nullopt);
  REQUIRE(before.size() == 2);
  CHECK(before[0].planned_pus == "0-1");
  CHECK(before[0].found_pus.empty());
  CHECK(before[0].verdict.empty());
  launch::MonitorRecord monitored;
  monitored.ends = {{0, 7}};
  const auto after = launch::record_ranks(two_ranks(), true, monitored);
  CHECK(after[0].exit_status == 7);
  CHECK(after[0].found_pus == "0-1");
  CHECK(after[0].verdict == "ok");
  CHECK_FALSE(after[1].exit_status.has_value());
  CHECK(after[1].verdict == "silent");
}

TEST_CASE("monitoring: the first failure depends on the job's status") {
  launch::MonitorRecord monitored;
  launch::RankReport failed;
  failed.rank = 3;
  failed.host = "h2";
  failed.exit_status = 7;
  launch::RankReport ended = failed;
  ended.rank = 1;
  ended.exit_status = 143;
  ended.signal = 15;
  monitored.first_failure = failed;
  monitored.first_ended = ended;
  launch::RankReport stalled;
  stalled.rank = 2;
  stalled.host = "h1";
  stalled.stall = {60, 'T', 77, "work", ""};
  monitored.stalls = {stalled};
  monitored.lost_hosts = {"h9"};
  monitored.stall_severity = "note";
  CHECK(launch::record_monitoring(monitored, 7).stall_severity.empty());  // the job went on
  monitored.stall = "rank 2 waits";
  const auto watched = launch::record_monitoring(monitored, 7);
  CHECK(watched.stall_severity == "note");
  REQUIRE(watched.first_failure.has_value());
  CHECK(watched.first_failure->rank == 3);
  CHECK(watched.stalls.at(0).state == "T");
  CHECK(watched.stalls.at(0).pid == 77);
  CHECK(watched.lost_hosts == std::vector<std::string>{"h9"});
  CHECK(watched.first_failure->absence.empty());
  CHECK(launch::record_monitoring(monitored, 143).first_failure->rank == 1);
  monitored.first_failure = launch::RankReport{2, "h1", launch::RankStatus::stalled, stalled.stall};
  CHECK(launch::record_monitoring(monitored, 7).first_failure->absence ==
        "was stopped while the other ranks waited for it");
}

TEST_SUITE_END();
