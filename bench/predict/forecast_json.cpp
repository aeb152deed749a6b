// SPDX-License-Identifier: MIT
#include "base/text/figures.hpp"
#include "base/text/text.hpp"
#include "base/text/utf8.hpp"
#include "bench/predict/forecast.hpp"
#include "bench/predict/profile_json.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::bench_predict {
namespace {

using ForecastJson = nlohmann::ordered_json;

ForecastJson row_to_json(const ForecastRow& row) {
  const auto number = [](double value) { return ForecastJson(round_to_five_digits(value)); };
  return {{"hosts", row.hosts},
          {"ranks", row.ranks},
          {"step_ms", number(row.step.step_ms)},
          {"range_ms", {number(row.fastest_ms), number(row.slowest_ms)}},
          {"images_s", number(row.images_per_second)},
          {"speedup", number(row.speedup)},
          {"efficiency", number(row.efficiency)},
          {"exposed_ms", number(row.step.exposed_ms)},
          {"limit", row.limit},
          {"sums", row.step.schedule},
          {"wire_ms", number(row.step.wire_ms)},
          {"latency_ms", number(row.step.latency_ms)},
          {"messages_ms", number(row.step.messages_ms)},
          {"host_ms", number(row.step.host_ms)},
          {"times_one_host", number(row.over_host)},
          {"bf16_times_one_host", row.narrow_over_host ? number(*row.narrow_over_host) : ForecastJson()}};
}

}  // namespace

std::string render_forecast_json(const Forecast& forecast) {
  const ForecastRequest& request = forecast.request;
  ForecastJson json = {{"schema", "ddlrun.predict/1"},
                       {"net", request.profile.net},
                       {"answer", std::string(trim(render_forecast_answer(forecast)))},
                       {"network",
                        {{"text", request.network_text},
                         {"bytes_s", round_to_five_digits(request.network.bytes_per_second)},
                         {"latency_us", round_to_five_digits(request.network.latency_s * 1e6)},
                         {"message_us", round_to_five_digits(request.network.message_s * 1e6)},
                         {"error", round_to_five_digits(request.network_error)}}},
                       {"ranks_a_host", request.ranks_a_host},
                       {"hosts_per_rack", request.hosts_per_rack},
                       {"narrow", request.narrow},
                       {"rows", ForecastJson::array()},
                       {"profile", ForecastJson::parse(render_profile_json(request.profile))}};
  for (const ForecastRow& row : forecast.rows) json["rows"].push_back(row_to_json(row));
  return escape_json(json.dump(-1, ' ', false, ForecastJson::error_handler_t::replace)) + "\n";
}

}  // namespace ddlrun::bench_predict
