// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/results.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace ddlrun::ddl_bench {
namespace {

using ResultsJson = nlohmann::ordered_json;

double rounded_figure(double value) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const double unit = std::pow(10.0, 4.0 - std::floor(std::log10(std::abs(value))));
  return std::round(value * unit) / unit;
}

ResultsJson optional_figure(const std::optional<double>& value, double factor) {
  return value ? ResultsJson(rounded_figure(*value * factor)) : ResultsJson();
}

ResultsJson way_json(const BenchFacts& facts, const SizeResult& size, const BackendResult& backend) {
  const CaseResult& best = backend.best();
  const double least = best.times.least;
  std::optional<double> part;
  if (backend.limit && least > 0.0) part = *backend.limit / least;
  ResultsJson json = {{"backend", backend.backend},
                      {"how", best.how},
                      {"us_min", rounded_figure(least * 1e6)},
                      {"us_median", rounded_figure(best.times.median * 1e6)},
                      {"turns", best.times.turns},
                      {"algbw_GBps", rounded_figure(alg_bandwidth(size.bytes, least))},
                      {"busbw_GBps", rounded_figure(bus_bandwidth(size.bytes, least, facts.ranks))},
                      {"wrong", backend.wrong()},
                      {"times_mpi", optional_figure(times_mpi(size, backend), 1.0)},
                      {"limit_us", optional_figure(backend.limit, 1e6)},
                      {"percent_of_limit", optional_figure(part, 100.0)}};
  json["cases"] = ResultsJson::array();
  for (const CaseResult& bench_case : backend.cases)
    json["cases"].push_back({{"how", bench_case.how},
                             {"us_min", rounded_figure(bench_case.times.least * 1e6)},
                             {"us_median", rounded_figure(bench_case.times.median * 1e6)}});
  return json;
}

}  // namespace

std::string render_results_json(const BenchFacts& facts, const std::vector<SizeResult>& sizes) {
  ResultsJson json = {{"schema", "ddl-bench.allreduce/1"},
                      {"version", facts.version},
                      {"ranks", facts.ranks},
                      {"hosts", facts.hosts},
                      {"dims", facts.dims},
                      {"type", ddl::name_of(facts.type)},
                      {"operation", "sum"},
                      {"mpi", facts.mpi},
                      {"gloo", facts.gloo.empty() ? ResultsJson() : ResultsJson(facts.gloo)},
                      {"notes", facts.notes},
                      {"link", nullptr},
                      {"sizes", ResultsJson::array()}};
  if (facts.link)
    json["link"] = {{"one_way_MBps", rounded_figure(facts.link->one_way / 1e6)},
                    {"both_ways_MBps", rounded_figure(facts.link->both_ways / 1e6)}};
  for (const SizeResult& size : sizes) {
    ResultsJson backends = ResultsJson::array();
    for (const BackendResult& backend : size.backends) backends.push_back(way_json(facts, size, backend));
    json["sizes"].push_back({{"bytes", size.bytes}, {"count", size.count}, {"backends", backends}});
  }
  return json.dump(-1, ' ', false, ResultsJson::error_handler_t::replace) + "\n";
}

}  // namespace ddlrun::ddl_bench
