// SPDX-License-Identifier: MIT
#include "launch/history/training.hpp"

#include "launch/history/curves_svg.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace ddlrun::launch;

TEST_SUITE_BEGIN("launch/history/training");

TEST_CASE("the trainer's records are read, others counted") {
  Training training;
  for (const char* line :
       {R"({"type":"config","schema":"ddlrun.train.metrics/1","net":"lenet","data":"digits"})",
        R"({"type":"step","step":1,"epoch":1,"loss":2.5,"images_s":100.0})",
        R"({"type":"step","step":2,"epoch":1,"loss":null,"images_s":110.0})",
        R"({"type":"step","step":3,"epoch":1,"loss":1.5,"images_s":120.0})",
        R"({"type":"epoch","epoch":1,"train_loss":1.6,"test_loss":1.4,"test_accuracy":0.5})",
        R"({"type":"new"})", "", "[1]", R"({"type":"st)"}) {
    take_metrics_line(line, training);
  }
  CHECK(training.known);
  CHECK(training.net == "lenet");
  CHECK(training.steps.size() == 2);
  CHECK(training.epochs.at(0).step == 3);
  CHECK(training.damaged_lines == 3);
}

TEST_CASE("what is done again after a resume is shown once") {
  Training training;
  for (const char* line :
       {R"({"type":"step","step":8,"loss":2.5,"images_s":100.0})",
        R"({"type":"step","step":9,"loss":9.0,"images_s":1.0})",
        R"({"type":"epoch","epoch":1,"train_loss":1.6,"test_loss":1.4,"test_accuracy":0.5})",
        R"({"type":"resume","step":8})", R"({"type":"step","step":9,"loss":1.5,"images_s":120.0})"}) {
    take_metrics_line(line, training);
  }
  REQUIRE(training.steps.size() == 2);
  CHECK(training.steps[0].step == 8);
  CHECK(training.steps[1].loss == 1.5);
  CHECK(training.epochs.empty());
  CHECK(training.damaged_lines == 0);
}

TEST_CASE("the last test accuracy, from the end of a file") {
  CHECK(last_test_accuracy(
            "1.0}\n"
            R"({"type":"epoch","epoch":1,"train_loss":1.6,"test_loss":1.4,"test_accuracy":0.5})"
            "\n"
            R"({"type":"epoch","epoch":2,"train_loss":1.2,"test_loss":1.1,"test_accuracy":0.875})"
            "\n"
            R"({"type":"summary"})"
            "\n") == 0.875);
  CHECK_FALSE(last_test_accuracy("{\"type\":\"step\",\"step\":8,\"loss\":2.5,\"images_s\":1.0}\n"));
}

TEST_CASE("many steps become means") {
  std::vector<TrainingStep> steps;
  for (int i = 0; i < 10; ++i) steps.push_back({double(i), 1.0, 2.0 * i});
  const auto thin = thin_out(steps, 5);
  REQUIRE(thin.size() == 5);
  CHECK(thin[0].step == doctest::Approx(0.5));
  CHECK(thin[4].images_per_second == doctest::Approx(17.0));
  CHECK(thin_out(steps, 10).size() == 10);
}

TEST_CASE("a chart") {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const Chart chart{"<loss>", "step", {{"a&b", "#123456", {{0, 1}, {1, nothing}, {2, 3}, {4, 2}}, false}}};
  const std::string svg = render_chart_svg(chart);
  CHECK(svg.find("&lt;loss&gt;") != std::string::npos);
  CHECK(svg.find("a&amp;b") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  // 3 of 3.2 at x 2 of 0..4: the middle, 3/3.2 of the height above the base.
  CHECK(svg.find("281,55.6") != std::string::npos);
  CHECK(render_chart_svg({"t", "x", {}}).empty());
  CHECK(render_chart_svg({"t", "x", {{"n", "#000", {{1, nothing}}, false}}}).empty());
}

TEST_SUITE_END();
