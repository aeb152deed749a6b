// SPDX-License-Identifier: MIT
#include "bench/scaling/scaling.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::bench_report;

namespace {

TrainRun known_run(int ranks, double images, double exposed) {
  TrainRun run;
  run.net = "lenet5";
  run.ranks = ranks;
  run.global_batch = 64 * static_cast<std::size_t>(ranks);
  run.steps = 100;
  run.images_per_second = images;
  run.exposed_percent = exposed;
  return run;
}

// 64 images in 6.4 ms; 256 in 8 ms, of which 0.8 ms are communication.
Scaling known_scaling() {
  return compare_runs({known_run(1, 10'000, 0), known_run(4, 32'000, 10)}, "h1", "");
}

}  // namespace

TEST_SUITE_BEGIN("bench/scaling/scaling");

TEST_CASE("steps, speed and efficiency") {
  const Scaling scaling = known_scaling();
  CHECK(scaling.batch_a_rank == 64);
  const ScalingRow& row = scaling.rows[1];
  CHECK(row.step_ms == doctest::Approx(8.0));
  CHECK(row.exposed_ms == doctest::Approx(0.8));
  CHECK(row.compute_ms == doctest::Approx(7.2));
  CHECK(row.speedup == doctest::Approx(3.2));
  CHECK(row.efficiency == doctest::Approx(0.8));
  TrainRun other = known_run(2, 100, 0);
  other.global_batch = 64;
  try {
    compare_runs({known_run(1, 100, 0), other}, "", "the command");
    FAIL("different batches were compared");
  } catch (const Error& error) {
    CHECK(error.message().what == "the runs have 64 and 32 images a rank and step: they cannot be compared");
    CHECK(error.message().hint == "the command");
  }
}

TEST_CASE("with the trainer's own split, what is neither computing nor waiting is reported apart") {
  TrainRun one = known_run(1, 10'000, 0);
  one.compute_percent = 90.0;
  one.input_percent = 5.0;
  TrainRun four = known_run(4, 32'000, 10);
  four.compute_percent = 75.0;
  four.input_percent = 5.0;
  const Scaling scaling = compare_runs({one, four}, "h1", "");
  CHECK(scaling.rows[0].compute_ms == doctest::Approx(5.76));
  CHECK(*scaling.rows[0].other_ms == doctest::Approx(0.32));
  CHECK(scaling.rows[1].compute_ms == doctest::Approx(6.0));
  CHECK(*scaling.rows[1].other_ms == doctest::Approx(0.8));
  CHECK(render_scaling_table(scaling).find("other ms") != std::string::npos);
  CHECK(render_scaling_answer(scaling).find("0.48 ms more for updating the weights and the rest") !=
        std::string::npos);
  CHECK(nlohmann::json::parse(render_scaling_json(scaling))["runs"][1]["other_ms"] == doctest::Approx(0.8));
  CHECK(render_scaling_svg(scaling).find("update and rest: 0.8 ms") != std::string::npos);
  four.compute_percent = 99.0;  // clocks of two sources may not add up
  CHECK(compare_runs({one, four}, "h1", "").rows[1].other_ms == 0.0);
}

TEST_CASE("the answer") {
  CHECK(
      render_scaling_answer(known_scaling()) ==
      "Are 4 ranks 4 times faster than 1? No: 3.2 times (80 %). A step takes 8 ms instead of 6.4 ms: 0.8 ms "
      "more for waiting for sums of other ranks, 0.8 ms more for computing. Computing is slower where ranks "
      "share memory, caches and clock, or other programs run.\n");
  // Times that add up: steps of 6.4 and 8 ms, waiting 0 and 2.4 of them, so that 6.4 and 5.6 are computing.
  CHECK(
      render_scaling_answer(compare_runs({known_run(1, 10000, 0), known_run(2, 16000, 30)}, "", ""))
          .find(
              "A step takes 8 ms instead of 6.4 ms: 2.4 ms more for waiting for sums of other ranks, 0.8 ms "
              "less for computing.\n") != std::string::npos);
  CHECK(render_scaling_answer(compare_runs({known_run(2, 100, 0), known_run(4, 199, 0.5)}, "", ""))
            .find("Are 4 ranks 2 times faster than 2? Yes: 1.99 times (100 %)") == 0);
  CHECK(render_scaling_answer(compare_runs({known_run(1, 100, 0), known_run(2, 184, 0)}, "", ""))
            .find("? Nearly: ") != std::string::npos);
  CHECK(render_scaling_answer(compare_runs({known_run(1, 100, 0), known_run(2, 50, 0)}, "", ""))
            .find("? No: they are slower, at 0.5 times the speed. ") != std::string::npos);
  CHECK(render_scaling_answer(compare_runs({known_run(1, 100, 0)}, "", ""))
            .find("No other number of ranks was measured") != std::string::npos);
}

TEST_CASE("more speed than ranks is no answer") {
  // A newcomer's measurement: 2.98 times from 2 to 4 ranks, beside other programs.
  const std::string answer =
      render_scaling_answer(compare_runs({known_run(2, 100, 0), known_run(4, 298, 0)}, "", ""));
  CHECK(answer.starts_with(
      "Are 4 ranks 2 times faster than 2? The runs were disturbed and give no answer: 2.98 times (149 %)"));
  CHECK(answer.find("--repeat 5 on an idle machine") != std::string::npos);
  CHECK(answer.find("Yes") == std::string::npos);
  // The first run is the slow one, whichever later row shows it.
  CHECK(render_scaling_answer(
            compare_runs({known_run(1, 100, 0), known_run(2, 230, 0), known_run(4, 390, 0)}, "", ""))
            .find("The runs were disturbed and give no answer: 2.3 times (115 %) with 2 ranks") !=
        std::string::npos);
}

TEST_CASE("several hosts: from one full host to more") {
  const auto on_hosts = [](int ranks, int hosts, double images) {
    TrainRun run = known_run(ranks, images, 0);
    run.hosts = hosts;
    return run;
  };
  const auto answer_of = [](const std::vector<TrainRun>& runs) {
    return render_scaling_answer(compare_runs(runs, "", ""));
  };
  const std::string answer = answer_of({on_hosts(1, 1, 100), on_hosts(4, 1, 360), on_hosts(8, 2, 684)});
  CHECK(answer.ends_with("\n1 host -> 2 hosts: 1.9 times\n"));  // 684 / 360
  CHECK(answer_of({on_hosts(2, 1, 100), on_hosts(4, 2, 190), on_hosts(8, 4, 350)})
            .ends_with("\n1 host -> 2 hosts: 1.9 times; 4 hosts: 3.5 times\n"));
  CHECK(answer_of({on_hosts(1, 1, 100), on_hosts(8, 2, 684)}).find("1 host") == std::string::npos);
  CHECK(answer_of({on_hosts(1, 1, 100), on_hosts(2, 1, 190)}).find("1 host") == std::string::npos);
}

TEST_CASE("what ddl-train prints is read, and refused where it lacks something") {
  const std::string good =
      R"({"schema":"ddlrun.train/1","net":"x","ranks":2,"threads":1,"global_batch":128,"steps":9,"images_s":5.5,"comm_percent":4})";
  const TrainRun run = parse_train_summary("talk\n" + good + "\n", "here");
  CHECK(run.ranks == 2);
  CHECK(run.images_per_second == 5.5);
  CHECK(run.exposed_percent == 4.0);
  CHECK_FALSE(run.input_percent.has_value());
  CHECK(run.parameters == 0);
  CHECK(parse_train_summary(R"({"parameters":431080,)" + good.substr(1), "here").parameters == 431080);
  for (const char* name : {"ranks", "threads", "global_batch", "steps", "images_s", "comm_percent"}) {
    CAPTURE(name);
    auto json = nlohmann::json::parse(good);
    json[name] = nullptr;
    CHECK_THROWS_AS(parse_train_summary(json.dump(), "here"), Error);
    json[name] = -1;
    CHECK_THROWS_AS(parse_train_summary(json.dump(), "here"), Error);
  }
  CHECK_THROWS_AS(parse_train_summary("", "here"), Error);
  CHECK_THROWS_AS(parse_train_summary("{\"schema\":\"ddlrun.train/1\"", "here"), Error);
}

TEST_CASE("the document and the picture") {
  const auto json = nlohmann::json::parse(render_scaling_json(known_scaling()));
  CHECK(json["schema"] == "ddlrun.bench.scaling/1");
  CHECK(json["runs"][1]["efficiency"] == doctest::Approx(0.8));
  CHECK(json["runs"][1]["input_ms"].is_null());
  CHECK(json["runs"][1]["other_ms"].is_null());
  Scaling scaling = known_scaling();
  scaling.net = "<b>&\"\n";
  scaling.rows[1].input_ms = 1.0;
  const std::string svg = render_scaling_svg(scaling);
  CHECK(svg.find("viewBox=") != std::string::npos);
  CHECK(svg.find("&lt;b&gt;&amp;&quot;") != std::string::npos);
  CHECK(svg.find("exposed communication: 0.8 ms") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(std::count(svg.begin(), svg.end(), '<') == std::count(svg.begin(), svg.end(), '>'));
}

TEST_SUITE_END();
