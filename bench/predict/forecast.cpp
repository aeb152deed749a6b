// SPDX-License-Identifier: MIT
#include "bench/predict/forecast.hpp"

#include "base/text/error.hpp"
#include "ddl/collectives/inter_node_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ddlrun::bench_predict {
namespace {

constexpr double little_exposed = 0.05;  // of a step: then computing is what counts

SumShape shape_of(const ForecastRequest& request, int hosts, bool narrow) {
  SumShape shape{{hosts}, request.ranks_a_host, narrow};
  if (request.hosts_per_rack > 0 && hosts > request.hosts_per_rack) {
    if (hosts % request.hosts_per_rack != 0) {
      throw Error(ErrorKind::request,
                  {fmt::format("{} hosts do not fill racks of {} hosts", hosts, request.hosts_per_rack),
                   "--hosts-per-rack",
                   fmt::format("--hosts {}", hosts / request.hosts_per_rack * request.hosts_per_rack)});
    }
    shape.levels = {request.hosts_per_rack, hosts / request.hosts_per_rack};
  }
  for (const int ranks : shape.levels) {
    if (ranks <= ddl::max_ranks_of_comm) continue;
    throw Error(ErrorKind::request, {fmt::format("libddl adds {} hosts at once on one level, not {}",
                                                 ddl::max_ranks_of_comm, ranks),
                                     "--hosts", "--hosts-per-rack 32"});
  }
  return shape;
}

StepForecast forecast_on(const ForecastRequest& request, int hosts, bool narrow, double slower,
                         double network_factor) {
  const StepProfile& profile = request.profile;
  const SumShape shape = shape_of(request, hosts, narrow);
  if (hosts == 1 && request.ranks_a_host == 1) {
    StepForecast alone;
    alone.step_ms = profile.input_ms + slower * (alone_ms(profile) - profile.input_ms);
    alone.schedule = "none, one rank";
    return alone;
  }
  const Network network{request.network.bytes_per_second / network_factor,
                        request.network.latency_s * network_factor,
                        request.network.message_s * network_factor};
  return forecast_step(profile, shape, network, slower);
}

// What makes a step longer than `alone_ms`, without sums. What is not waited for, the communication thread
// takes from the threads that compute.
std::string find_limit(const StepForecast& step, double alone_ms) {
  const double longer = step.step_ms - alone_ms;
  if (longer < little_exposed * step.step_ms) return "computing";
  std::vector<std::pair<double, const char*>> parts = {{step.messages_ms, "messages"},
                                                       {step.host_ms, "sums of the host"}};
  if (step.exposed_ms >= longer / 2.0) {
    parts.emplace_back(step.wire_ms, "bandwidth");
    parts.emplace_back(step.latency_ms, "latency");
  }
  return std::ranges::max_element(parts, {}, &std::pair<double, const char*>::first)->second;
}

}  // namespace

Forecast make_forecast(const ForecastRequest& request) {
  Forecast forecast{request, {}};
  const double error = 1.0 + std::max(model_error, request.network_error);
  const StepForecast one = forecast_on(request, 1, request.narrow, 1.0, 1.0);
  const double images = static_cast<double>(request.profile.images);
  for (const int hosts : request.hosts) {
    ForecastRow row;
    row.hosts = hosts;
    row.ranks = hosts * request.ranks_a_host;
    row.step = forecast_on(request, hosts, request.narrow, 1.0, 1.0);
    row.fastest_ms =
        forecast_on(request, hosts, request.narrow, request.profile.lower_quartile, 1.0 / error).step_ms;
    row.slowest_ms =
        forecast_on(request, hosts, request.narrow, request.profile.upper_quartile, error).step_ms;
    row.images_per_second = 1e3 * images * row.ranks / row.step.step_ms;
    row.efficiency = request.profile.one_rank_step_ms / row.step.step_ms;
    row.speedup = row.efficiency * row.ranks;
    row.over_host = hosts * one.step_ms / row.step.step_ms;
    if (!request.narrow && hosts > 1)
      row.narrow_over_host = hosts * one.step_ms / forecast_on(request, hosts, true, 1.0, 1.0).step_ms;
    row.limit = find_limit(row.step, alone_ms(request.profile));
    forecast.rows.push_back(row);
  }
  return forecast;
}

}  // namespace ddlrun::bench_predict
