// SPDX-License-Identifier: MIT
#include "runtime/telemetry/metrics.hpp"

#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace ddlrun::runtime {
namespace {

RunFacts some_facts() {
  RunFacts facts;
  facts.net = "lenet5";
  facts.data = "a \"quoted\"\n\xff directory";
  facts.epochs = 5;
  facts.total_steps = 200;
  facts.global_batch = 64;
  return facts;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/telemetry/metrics");

// namespace

TEST_CASE("metrics: each record is one line of JSON that says what it is") {
  const StepRecord step{7, 1, 0.5, 0.01, 0.002, 0.0001, 0.0002, 0.0015, 0.0};
  const EpochRecord epoch{1, 15, 0.6, 0.8, 0.7, 0.75, 1.5};
  TrainSummary summary;
  summary.last = epoch;
  summary.weights_hash = 0xabc;
  const std::pair<const char*, std::string> records[] = {
      {"config", render_config_record(some_facts())},
      {"step", render_step_record(step, 64)},
      {"resume", render_resume_record(7)},
      {"epoch", render_epoch_record(epoch)},
      {"summary", render_summary_record(some_facts(), summary)},
  };
  for (const auto& [type, text] : records) {
    CHECK(text.find('\n') == std::string::npos);
    const auto json = nlohmann::json::parse(text);
    CHECK(json.at("type") == type);
    CHECK(text.starts_with("{\"type\":"));
  }
  const auto json = nlohmann::json::parse(records[1].second);
  CHECK(json.at("step") == 7);
  CHECK(json.at("loss") == 0.5);
  CHECK(json.at("images_s") == 32000.0);
  CHECK(json.at("comm_ms") == 0.1);
  CHECK(json.at("input_ms") == 0.2);
  CHECK(json.at("compute_ms") == 1.5);
  CHECK(nlohmann::json::parse(render_summary_json(some_facts(), summary, true)).at("schema") ==
        "ddlrun.train/1");
}

TEST_CASE("metrics: an epoch that was resumed reports of how many steps its time is") {
  EpochRecord epoch{1, 625, 0.6, 0.8, 0.7, 0.75, 1.5};
  epoch.timed_steps = 50;
  const auto json = nlohmann::json::parse(render_epoch_record(epoch));
  CHECK(json.at("steps") == 625);
  CHECK(json.at("timed_steps") == 50);
}

TEST_CASE("metrics: numbers that are not finite become null") {
  const auto json = nlohmann::json::parse(render_step_record({1, 1, std::nan(""), 0.1, 0.1, 0.0}, 1));
  CHECK(json.at("loss").is_null());
}

TEST_CASE("metrics: the file holds whole lines, and refusals are clear") {
  const std::string path = (std::filesystem::temp_directory_path() / "ddlrun-metrics-test.jsonl").string();
  {
    MetricsFile file(path);
    file.write("{\"a\":1}");
    file.write("{\"a\":2}");
  }
  std::ifstream in(path);
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) CHECK(nlohmann::json::parse(line).at("a") == ++lines);
  CHECK(lines == 2);
  std::remove(path.c_str());
  expect_error(ErrorKind::request, "cannot be opened",
               [] { const MetricsFile file("/no/such/place/m.jsonl"); });
  expect_error(ErrorKind::request, "No space left", [] {
    MetricsFile file("/dev/full");
    file.write("{}");
    file.flush();
  });
}

TEST_CASE("metrics: the summary line is key=value after its head") {
  const std::string line = render_summary_line(some_facts(), TrainSummary{}, true);
  CHECK(line.starts_with("ddl-train: ok net=lenet5 ranks=1 "));
  CHECK(line.find(" test_accuracy=0.0000 ") != std::string::npos);
  CHECK(line.find('\n') == std::string::npos);
}

TEST_CASE("metrics: the time split, the memory and the accuracy are in the summary and in the results") {
  TrainSummary summary;
  summary.train_seconds = 10.0;
  summary.compute_seconds = 8.0;
  summary.comm_seconds = 0.5;
  summary.input_seconds = 1.0;
  summary.last.test_accuracy = 0.9;
  RunFacts facts = some_facts();
  facts.peak_memory_bytes = 1 << 20;
  facts.peak_memory_rank = 2;
  const auto json = nlohmann::json::parse(render_summary_json(facts, summary, true));
  CHECK(json.at("compute_percent") == 80.0);
  CHECK(json.at("comm_percent") == 5.0);
  CHECK(json.at("input_percent") == 10.0);
  CHECK(json.at("peak_memory_bytes") == 1048576);
  CHECK(json.at("peak_memory_rank") == 2);
  EpochRecord epoch;
  epoch.epoch = 1;
  epoch.test_accuracy = 0.9;
  const auto results = nlohmann::json::parse(render_results(facts, summary, {epoch}));
  CHECK(results.at("test_accuracy") == 0.9);
  CHECK(results.at("config").at("net") == "lenet5");
  CHECK(results.at("history").at(0).at("test_accuracy") == 0.9);
  CHECK(results.at("stopped") == false);
  CHECK(results.at("resumed_at_step").is_null());
  summary.first_step = 25;
  CHECK(nlohmann::json::parse(render_results(facts, summary, {epoch})).at("resumed_at_step") == 25);
  CHECK(peak_memory_bytes() > 1000000);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
