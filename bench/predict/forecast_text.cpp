// SPDX-License-Identifier: MIT
// A forecast for people: a table with a sentence, and the two pictures of bench scaling.
#include "base/text/text.hpp"
#include "bench/predict/forecast.hpp"
#include "bench/scaling/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::bench_predict {

std::string render_forecast_answer(const Forecast& forecast) {
  const ForecastRow& last = forecast.rows.back();
  const double one_ms = last.over_host * last.step.step_ms;  // of one host, times the hosts
  std::string text =
      fmt::format("{} give{} {:.3g} times the images/s of 1 host ({:.3g} to {:.3g})",
                  count_of(static_cast<std::uint64_t>(last.hosts), "host"), last.hosts == 1 ? "s" : "",
                  last.over_host, one_ms / last.slowest_ms, one_ms / last.fastest_ms);
  const double longer = std::max(0.0, last.step.step_ms - alone_ms(forecast.request.profile));
  text += fmt::format("; sums take {:.0f} % of a step", 100.0 * longer / last.step.step_ms);
  if (last.narrow_over_host)
    text += fmt::format("; bf16 between hosts would give {:.3g} times", *last.narrow_over_host);
  return text + ".\n";
}

std::string render_forecast_table(const Forecast& forecast) {
  const ForecastRequest& request = forecast.request;
  const StepProfile& profile = request.profile;
  std::string text =
      fmt::format("# forecast: {}, {} images a rank and step, {} between hosts, network {}\n# from {}{}\n",
                  printable(profile.net), profile.images, request.narrow ? "16 bits" : "float32",
                  printable(request.network_text), printable(profile.source),
                  profile.layers_measured ? "" : "; its layers were not measured: taken as equal");
  text += fmt::format("# {:>5} {:>6} {:>9} {:>19} {:>10} {:>8} {:>11} {:>11}  {}\n", "hosts", "ranks",
                      "step ms", "range ms", "images/s", "speedup", "efficiency", "exposed ms", "limit");
  for (const ForecastRow& row : forecast.rows) {
    text += fmt::format(
        "{:>7} {:>6} {:>9.3f} {:>19} {:>10.0f} {:>8.2f} {:>9.1f} % {:>11.3f}  {}\n", row.hosts, row.ranks,
        row.step.step_ms, fmt::format("{:.3f} to {:.3f}", row.fastest_ms, row.slowest_ms),
        row.images_per_second, row.speedup, 100.0 * row.efficiency, row.step.exposed_ms, row.limit);
  }
  text += fmt::format("sums: {}\n", forecast.rows.back().step.schedule);
  return text + render_forecast_answer(forecast);
}

std::string render_forecast_svg(const Forecast& forecast) {
  bench_report::Scaling scaling;
  scaling.net = "forecast, " + forecast.request.profile.net;
  scaling.hosts = count_of(static_cast<std::uint64_t>(forecast.rows.back().hosts), "host") + ", " +
                  forecast.request.network_text;
  scaling.batch_a_rank = forecast.request.profile.images;
  const double first = forecast.rows.front().images_per_second;
  for (const ForecastRow& row : forecast.rows) {
    bench_report::ScalingRow drawn;
    drawn.run.ranks = row.ranks;
    drawn.run.hosts = row.hosts;
    drawn.run.images_per_second = row.images_per_second;
    drawn.step_ms = row.step.step_ms;
    drawn.exposed_ms = row.step.exposed_ms;
    drawn.input_ms = forecast.request.profile.input_ms;
    drawn.compute_ms = row.step.step_ms - row.step.exposed_ms - *drawn.input_ms;
    // Of one rank alone, as the efficiency beside it.
    drawn.ideal = row.images_per_second / (row.efficiency * first);
    drawn.speedup = row.speedup;
    drawn.efficiency = row.efficiency;
    scaling.rows.push_back(drawn);
  }
  return bench_report::render_scaling_svg(scaling);
}

}  // namespace ddlrun::bench_predict
