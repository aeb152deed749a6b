// SPDX-License-Identifier: MIT
#include "launch/history/metrics_file.hpp"

#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::find_metrics_file;

TEST_SUITE_BEGIN("launch/history/metrics_file");

TEST_CASE("the metrics of a run are in the file that --metrics names, else in the run directory") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  launch::RunRecord run;
  run.workdir = "/project";
  run.program = {"ddl-train", "--epochs", "2"};
  CHECK(find_metrics_file(system, run, "/runs/r").path == "");
  CHECK(find_metrics_file(system, run, "/runs/r").problem == "");
  fake.files.files["/runs/r/metrics.jsonl"] = "{}\n";
  CHECK(find_metrics_file(system, run, "/runs/r").path == "/runs/r/metrics.jsonl");
  run.program = {"ddl-train", "--metrics", "own.jsonl"};
  CHECK(find_metrics_file(system, run, "/runs/r").path == "");
  CHECK(find_metrics_file(system, run, "/runs/r").problem == "there is no /project/own.jsonl");
  fake.files.files["/project/own.jsonl"] = "{}\n";
  CHECK(find_metrics_file(system, run, "/runs/r").path == "/project/own.jsonl");
  run.program = {"ddl-train", "--metrics=/data/a.jsonl"};
  fake.files.files["/data/a.jsonl"] = "{}\n";
  CHECK(find_metrics_file(system, run, "/runs/r").path == "/data/a.jsonl");
}

TEST_SUITE_END();
