// SPDX-License-Identifier: MIT
#include "base/text/figures.hpp"
#include "bench/ddl_bench/results.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::ddl_bench {
namespace {

using ResultsJson = nlohmann::ordered_json;

ResultsJson optional_figure(const std::optional<double>& value, double factor) {
  return value ? ResultsJson(round_to_five_digits(*value * factor)) : ResultsJson();
}

ResultsJson way_json(const BenchFacts& facts, const SizeResult& size, const BackendResult& backend) {
  const CaseResult& best = backend.best();
  const double least = best.times.least;
  std::optional<double> part;
  if (backend.limit && least > 0.0) part = *backend.limit / least;
  ResultsJson json = {{"backend", backend.backend},
                      {"how", best.how},
                      {"us_min", round_to_five_digits(least * 1e6)},
                      {"us_median", round_to_five_digits(best.times.median * 1e6)},
                      {"turns", best.times.turns},
                      {"algbw_GBps", round_to_five_digits(alg_bandwidth(size.bytes, least))},
                      {"busbw_GBps", round_to_five_digits(bus_bandwidth(size.bytes, least, facts.ranks))},
                      {"wrong", backend.wrong()},
                      {"times_mpi", optional_figure(times_mpi(size, backend), 1.0)},
                      {"limit_us", optional_figure(backend.limit, 1e6)},
                      {"percent_of_limit", optional_figure(part, 100.0)}};
  json["cases"] = ResultsJson::array();
  for (const CaseResult& bench_case : backend.cases)
    json["cases"].push_back({{"how", bench_case.how},
                             {"us_min", round_to_five_digits(bench_case.times.least * 1e6)},
                             {"us_median", round_to_five_digits(bench_case.times.median * 1e6)}});
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
    json["link"] = {{"one_way_MBps", round_to_five_digits(facts.link->one_way / 1e6)},
                    {"both_ways_MBps", round_to_five_digits(facts.link->both_ways / 1e6)}};
  for (const SizeResult& size : sizes) {
    ResultsJson backends = ResultsJson::array();
    for (const BackendResult& backend : size.backends) backends.push_back(way_json(facts, size, backend));
    json["sizes"].push_back({{"bytes", size.bytes}, {"count", size.count}, {"backends", backends}});
  }
  return json.dump(-1, ' ', false, ResultsJson::error_handler_t::replace) + "\n";
}

}  // namespace ddlrun::ddl_bench
