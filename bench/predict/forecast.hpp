// SPDX-License-Identifier: MIT
// What a training would do on more hosts: a row for each number of hosts, and what limits it. Pure.
#pragma once

#include "bench/predict/step_model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::bench_predict {

// Half of the forecasts of bench/predict_error.sh are closer to the measured steps than this.
constexpr double model_error = 0.10;

struct ForecastRequest {
  StepProfile profile;
  Network network;
  std::string network_text;    // for people: "10Gbit/s,20us"
  double network_error = 0.0;  // of the fit to measured sums
  std::vector<int> hosts;      // ascending
  int ranks_a_host = 1;
  int hosts_per_rack = 0;  // 0: all hosts are one level
  bool narrow = false;     // gradients travel as bfloat16 or float16
};

struct ForecastRow {
  int hosts = 1;
  int ranks = 1;
  StepForecast step;
  // From the spread of the measured steps and the error of the model.
  double fastest_ms = 0.0;
  double slowest_ms = 0.0;
  double images_per_second = 0.0;
  double speedup = 1.0;  // over one rank
  double efficiency = 1.0;
  std::string limit;       // "computing", "bandwidth", "latency", "messages", "sums of the host"
  double over_host = 1.0;  // images/s over those of one host
  std::optional<double> narrow_over_host;  // the same if gradients travelled as bfloat16
};

struct Forecast {
  ForecastRequest request;
  std::vector<ForecastRow> rows;
};

// Throws Error(request) where hosts do not fill racks, or a level has more ranks than libddl adds.
Forecast make_forecast(const ForecastRequest& request);

// "16 hosts give 13.1 times the images/s of 1 host (12.2 to 13.6). ...". About the last row.
std::string render_forecast_answer(const Forecast& forecast);
std::string render_forecast_table(const Forecast& forecast);
std::string render_forecast_json(const Forecast& forecast);  // "ddlrun.predict/1"
std::string render_forecast_svg(const Forecast& forecast);

}  // namespace ddlrun::bench_predict
