// SPDX-License-Identifier: MIT
// By hand: 30 ms of computing, 4 MB of gradients in 16 equal buckets, two hosts at 4 GB/s and more.
#include "bench/predict/forecast.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace ddlrun::bench_predict {
namespace {

ForecastRequest some_request(std::vector<int> hosts) {
  BareStep step;
  step.net = "toy";
  step.source = "a test";
  step.images = 64;
  step.parameters = 1000000;
  step.compute_ms = step.one_rank_step_ms = 30;
  ForecastRequest request;
  request.profile = spread_step(step);
  request.network = {4e9, 0.0, 0.0};
  request.network_text = "4GB/s,0us";
  request.hosts = std::move(hosts);
  return request;
}

}  // namespace
TEST_SUITE_BEGIN("bench/predict/forecast");

TEST_CASE("two hosts: the sums hide behind computing but for the last of 16 buckets, 0.25 MB in 0.0625 ms") {
  const Forecast forecast = make_forecast(some_request({1, 2}));
  REQUIRE(forecast.rows.size() == 2);
  CHECK(forecast.rows[0].step.step_ms == doctest::Approx(30));
  CHECK(forecast.rows[0].efficiency == doctest::Approx(1.0));
  const ForecastRow& two = forecast.rows[1];
  CHECK(two.step.step_ms == doctest::Approx(30.0625));
  CHECK(two.images_per_second == doctest::Approx(128e3 / 30.0625));
  CHECK(two.over_host == doctest::Approx(60 / 30.0625));
  CHECK(two.limit == "computing");
  CHECK(two.slowest_ms == doctest::Approx(30 + 0.0625 * 1.1));
}

TEST_CASE("what limits: bandwidth, latency or messages, as far as the rank waits") {
  ForecastRequest request = some_request({4});
  request.network = {1e6, 0.0, 0.0};
  CHECK(make_forecast(request).rows[0].limit == "bandwidth");
  request.network = {1e12, 1.0, 0.0};
  CHECK(make_forecast(request).rows[0].limit == "latency");
  request.network = {1e12, 0.0, 1.0};
  CHECK(make_forecast(request).rows[0].limit == "messages");
  request.network = {1e12, 0.0, 0.0};
  request.ranks_a_host = 4;
  request.profile.host_sum_ms = 100;
  CHECK(make_forecast(request).rows[0].limit == "sums of the host");
}

TEST_CASE("what limits: messages of the communication thread, also where no rank waits for them") {
  ForecastRequest request = some_request({2});
  request.network = {1e12, 0.0, 50e-6};
  request.profile.schedules.erase(request.profile.schedules.begin());
  // A bucket of 0.25 MB: 8 chunks, 32 messages, 1.6 ms; 15 of them beside computing, the last one after it.
  const ForecastRow row = make_forecast(request).rows[0];
  CHECK(row.step.step_ms == doctest::Approx(30 + 15 * 1.6 + 1.6));
  CHECK(row.step.exposed_ms == doctest::Approx(1.6));
  CHECK(row.limit == "messages");
}

TEST_CASE("the sentence is about the last row, with its range and the same with 16 bits") {
  ForecastRequest request = some_request({1, 2});
  // 4 MB at 0.1 GB/s: 40 ms, of which 28.125 pass after the first bucket is ready (at 10 + 1.25).
  request.network = {1e8, 0.0, 0.0};
  const Forecast forecast = make_forecast(request);
  CHECK(forecast.rows[1].step.step_ms == doctest::Approx(11.25 + 40));
  CHECK(render_forecast_answer(forecast) ==
        "2 hosts give 1.17 times the images/s of 1 host (1.09 to 1.26); sums take 41 % of a step; "
        "bf16 between hosts would give 1.92 times.\n");
  CHECK(render_forecast_table(forecast).find("bandwidth\n") != std::string::npos);
  request.narrow = true;
  CHECK(render_forecast_answer(make_forecast(request)).find("bf16") == std::string::npos);
}

TEST_CASE("racks must be full, and no level may have more than 1024 hosts") {
  ForecastRequest request = some_request({6});
  request.hosts_per_rack = 4;
  CHECK_THROWS_AS(make_forecast(request), Error);
  request.hosts = {4, 8};
  CHECK(make_forecast(request).rows[1].ranks == 8);
  CHECK_THROWS_AS(make_forecast(some_request({2048})), Error);
}

TEST_CASE("the document has what the table has, and a profile from which the same forecast follows") {
  const Forecast forecast = make_forecast(some_request({1, 8}));
  const std::string text = render_forecast_json(forecast);
  const auto json = nlohmann::json::parse(text);
  CHECK(json["schema"] == "ddlrun.predict/1");
  CHECK(json["rows"][1]["hosts"] == 8);
  CHECK(json["rows"][1]["step_ms"].get<double>() ==
        doctest::Approx(forecast.rows[1].step.step_ms).epsilon(1e-4));
  CHECK(json["network"]["bytes_s"].get<double>() == doctest::Approx(4e9));
  ForecastRequest again = some_request({1, 8});
  again.profile = parse_saved_profile(text, 0, "predict.json");
  CHECK(render_forecast_json(make_forecast(again)) == text);
  CHECK_THROWS_AS(parse_saved_profile(text, 4, "predict.json"), Error);
}

TEST_CASE("the picture has a bar for each row") {
  const std::string svg = render_forecast_svg(make_forecast(some_request({1, 2, 4})));
  std::size_t bars = 0;
  for (auto at = svg.find("exposed communication: "); at != std::string::npos;
       at = svg.find("exposed communication: ", at + 1))
    ++bars;
  CHECK(bars == 3);
}

// The label beside a point is its share of the line: half as fast as ideal is half as high.
TEST_CASE("the picture's ideal line is that of the efficiency beside its points") {
  ForecastRequest request = some_request({2, 4});
  request.profile.one_rank_step_ms = 0.5 * make_forecast(request).rows[0].step.step_ms;
  const std::string svg = render_forecast_svg(make_forecast(request));
  CHECK(svg.find("(50 %)") != std::string::npos);
  const auto height_at = [&](const char* colour) {
    const std::string stroke = std::string("stroke=\"") + colour;
    const std::size_t end = svg.find(stroke);
    const std::size_t points = svg.rfind("points=\"", end) + 8;
    constexpr double zero = 310.0;  // where the axis stands
    return zero - std::stod(svg.substr(svg.find(',', points) + 1));
  };
  CHECK(height_at("#888") == doctest::Approx(2 * height_at("#4878a8")).epsilon(0.01));
}

TEST_SUITE_END();

}  // namespace ddlrun::bench_predict
