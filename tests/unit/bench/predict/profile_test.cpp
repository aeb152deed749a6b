// SPDX-License-Identifier: MIT
#include "bench/predict/profile.hpp"

#include "base/text/error.hpp"
#include "bench/predict/measure_profile.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace ddlrun::bench_predict {
namespace {

// What ddl-train writes: 10 steps, of which the first five are left out.
std::string some_metrics() {
  std::string text =
      R"({"type":"config","schema":"ddlrun.train.metrics/1","net":"toy","ranks":1,"local_size":1,"threads":2,"local_batch":64})"
      "\n"
      R"({"type":"layers","parameters":100,"metadata":16,"layers":[{"name":"conv1","begin":0,"end":40},)"
      R"({"name":"pool1","begin":40,"end":40},{"name":"ip1","begin":40,"end":100}],)"
      R"("schedules":[{"text":"after each step","overlap":false,"metadata_bucket":0,"buckets":[[0,116]]}],)"
      R"("narrow_schedules":[{"text":"2","overlap":true,"metadata_bucket":1,"buckets":[[56,116],[0,56]]}]})"
      "\n";
  for (int i = 0; i < 10; ++i) {
    const int slow = i < 5 ? 100 : i == 9 ? 2 : 0;
    text += R"({"type":"step","step":1,"step_ms":)" + std::to_string(10 + slow) + R"(,"compute_ms":)" +
            std::to_string(8 + slow) +
            R"(,"comm_ms":0,"input_ms":0.5,"sum_ms":0})"
            "\n";
  }
  return text;
}

constexpr std::string_view some_timeline = R"({"displayTimeUnit":"ms","traceEvents":[
{"pid":1000,"ph":"M","name":"process_name","args":{"name":"rank 0"}},
{"pid":1000,"tid":1,"ph":"X","ts":0,"dur":10000.0,"name":"step 1","cat":"steps"},
{"pid":1000,"tid":2,"ph":"X","ts":0,"dur":1000.5,"name":"conv1 forward","cat":"compute"},
{"pid":1000,"tid":2,"ph":"X","ts":0,"dur":250.0,"name":"pool1 forward","cat":"compute"},
{"pid":1000,"tid":2,"ph":"X","ts":0,"dur":500.0,"name":"ip1 forward","cat":"compute"},
{"pid":1000,"tid":2,"ph":"X","ts":0,"dur":1500.0,"name":"ip1 backward","cat":"compute"},
{"pid":1000,"tid":2,"ph":"X","ts":0,"dur":3000.0,"name":"conv1 backward","cat":"compute"},
{"pid":1000,"tid":2,"ph":"X","ts":0,"dur":300.0,"name":"check gradients","cat":"compute"},
{"pid":1000,"tid":3,"ph":"X","ts":0,"dur":7.0,"name":"load","cat":"input"}
],"otherData":{}}
)";

}  // namespace
TEST_SUITE_BEGIN("bench/predict/profile");

TEST_CASE(
    "a run of ddl-train: medians of the second half, layers from the timeline, the rest is in no layer") {
  const StepProfile profile = read_profile(some_metrics(), some_timeline, "run.jsonl");
  CHECK(profile.net == "toy");
  CHECK(profile.images == 64);
  CHECK(profile.threads == 2);
  CHECK(profile.parameters == 100);
  REQUIRE(profile.layers.size() == 3);
  CHECK(profile.layers[0].forward_ms == doctest::Approx(1.0005));
  CHECK(profile.layers[2].backward_ms == doctest::Approx(1.5));
  CHECK(profile.layers[2].parameters.begin == 40);
  CHECK(profile.input_ms == doctest::Approx(0.5));
  CHECK(profile.rest_ms == doctest::Approx(8 - 6.2505));
  CHECK(profile.check_ms == doctest::Approx(0.3));
  CHECK(profile.update_ms == doctest::Approx(10 - 8 - 0.5 - 0.3));
  CHECK(profile.one_rank_step_ms == doctest::Approx(10));
  CHECK(alone_ms(profile) == doctest::Approx(10));
  CHECK(profile.narrow_schedules.at(0).buckets.at(1).end == 56);
}

TEST_CASE("a run without a timeline: equal layers, a third of the time forward") {
  const StepProfile profile = read_profile(some_metrics(), "", "run.jsonl");
  CHECK_FALSE(profile.layers_measured);
  CHECK(profile.layers[1].forward_ms == doctest::Approx(8.0 / 9));
  CHECK(alone_ms(profile) == doctest::Approx(10));
}

TEST_CASE("what is no run is refused") {
  const std::string metrics = some_metrics();
  CHECK_THROWS_AS(read_profile("", "", "f"), Error);
  CHECK_THROWS_AS(read_profile(metrics.substr(0, metrics.find("{\"type\":\"step")), "", "f"), Error);
  CHECK_THROWS_AS(read_profile(metrics.substr(metrics.find("{\"type\":\"layers")), "", "f"), Error);
  CHECK_THROWS_AS(read_profile(metrics, "{}", "f"), Error);
  std::string broken = metrics;
  broken.replace(broken.find("[[56,116]"), 9, "[[56,11]]");
  CHECK_THROWS_AS(read_profile(broken, "", "f"), Error);
  std::string two_hosts = metrics;
  two_hosts.replace(two_hosts.find("\"ranks\":1"), 9, "\"ranks\":2");
  CHECK_THROWS_WITH_AS(read_profile(two_hosts, "", "f"),
                       doctest::Contains("a run on several hosts, 1 of 2 ranks on the first"), Error);
}

TEST_CASE("a document of bench scaling: its run on one host, spread over 16 equal layers") {
  const std::string text =
      R"({"schema":"ddlrun.bench.scaling/1","net":"lenet5","hosts":"h","batch_a_rank":64,"runs":[)"
      R"({"ranks":1,"hosts":1,"threads":1,"parameters":1600,"step_ms":9,"compute_ms":8,"exposed_ms":0,"input_ms":null,"other_ms":1},)"
      R"({"ranks":2,"hosts":1,"threads":1,"parameters":1600,"step_ms":12,"compute_ms":9,"exposed_ms":2,"input_ms":0.5,"other_ms":0.5},)"
      R"({"ranks":4,"hosts":2,"threads":1,"parameters":1600,"step_ms":30,"compute_ms":9,"exposed_ms":20,"input_ms":0.5,"other_ms":0.5}]})";
  const StepProfile two = parse_saved_profile(text, 0, "s.json");
  CHECK(two.ranks_a_host == 2);
  CHECK(two.host_sum_ms == 2);
  CHECK(two.one_rank_step_ms == 9);
  CHECK(alone_ms(two) == doctest::Approx(10));
  CHECK(two.layers.size() == 16);
  CHECK(two.layers.back().backward_ms == doctest::Approx(9.0 / 16 * 2 / 3));
  CHECK(two.schedules.at(1).buckets.front().begin == 1500);
  CHECK(parse_saved_profile(text, 1, "s.json").ranks_a_host == 1);
  CHECK_THROWS_AS(parse_saved_profile(text, 3, "s.json"), Error);
  CHECK_THROWS_AS(parse_saved_profile("{}", 0, "s.json"), Error);
  CHECK_THROWS_AS(parse_saved_profile("x", 0, "s.json"), Error);
  CHECK_THROWS_AS(parse_saved_profile(R"({"schema":"ddlrun.predict/1"})", 0, "s.json"), Error);
}

TEST_CASE("the runs that measure: one rank, and the ranks of a host with their sums after each step") {
  Environment environment;
  environment.executable = "/opt/bin/ddlrun";
  MeasureRequest request;
  request.ranks_a_host = 2;
  request.trainer_words = predict_trainer_words({"--net", "lenet5"});
  const auto commands = profile_commands(environment, request, "/tmp/d");
  REQUIRE(commands.size() == 2);
  CHECK(commands[0][2] == "1x1");
  CHECK(commands[1][2] == "2x1");
  CHECK(std::ranges::count(commands[0], "--overlap") == 0);
  CHECK(commands[1].back() == "off");
  CHECK(std::ranges::count(commands[1], "/tmp/d/2-ranks.jsonl") == 1);
  CHECK_THROWS_AS(predict_trainer_words({"prog"}), Error);
  CHECK_THROWS_AS(predict_trainer_words({"--metrics=x"}), Error);
  CHECK(predict_trainer_words({"--max-steps", "9"}) ==
        std::vector<std::string>{"--max-steps", "9", "--quiet"});
}

TEST_CASE("a run that fails is reported with its message and the command, and leaves no file") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  const std::string metrics = "/tmp/ddlrun-predict-000000/1-ranks.jsonl";
  fake.processes.answer = [&](const Command& command) {
    CHECK(std::ranges::count(command, metrics) == 1);
    fake.files.files[metrics] = "half a line";
    ProcessResult result;
    result.exit_status = 3;
    result.err = "ddl-train: error: no data\n";
    return result;
  };
  MeasureRequest request;
  request.trainer_words = {"--quiet"};
  CHECK_THROWS_AS(measure_profile(system, request), Error);
  CHECK(fake.err.find("no data") != std::string::npos);
  CHECK_FALSE(fake.files.files.contains(metrics));
}

TEST_CASE("sums of ddl-bench: libddl's medians; one host has no network") {
  const std::string text =
      "# a line before it\n"
      R"({"schema":"ddl-bench.allreduce/1","ranks":8,"hosts":4,"dims":"2x2x2","sizes":[)"
      R"({"bytes":4096,"backends":[{"backend":"mpi","us_median":5},{"backend":"ddl","us_median":40.5}]}]})"
      "\n# all elements right\n";
  const MeasuredSums measured = parse_measured_sums(text, "f");
  CHECK(measured.shape.levels == std::vector{2, 2});
  CHECK(measured.shape.ranks_a_host == 2);
  REQUIRE(measured.sums.size() == 1);
  CHECK(measured.sums[0].seconds == doctest::Approx(40.5e-6));
  std::string one = text;
  one.replace(one.find("\"hosts\":4"), 9, "\"hosts\":1");
  CHECK_THROWS_AS(parse_measured_sums(one, "f"), Error);
  CHECK_THROWS_AS(parse_measured_sums("", "f"), Error);
}

TEST_SUITE_END();

}  // namespace ddlrun::bench_predict
