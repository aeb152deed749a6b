// SPDX-License-Identifier: MIT
// Reads the metrics and the timeline of a run of ddl-train.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "bench/predict/profile_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace ddlrun::bench_predict {
namespace {

using RunJson = nlohmann::ordered_json;

constexpr std::size_t least_steps = 8;

[[noreturn]] void refuse_run(const std::string& what, const std::string& where) {
  throw Error(ErrorKind::request,
              {what, where, "ddlrun launch 1 -- --max-steps 100 --metrics run.jsonl --timeline run.json"});
}

// Of `numbers`, which are not empty; 0.5: the median.
double quantile_of(std::vector<double> numbers, double part) {
  const auto index = static_cast<std::size_t>(part * static_cast<double>(numbers.size() - 1) + 0.5);
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(index), numbers.end());
  return numbers[index];
}

struct StepLines {
  std::vector<double> compute, input, sum, other;
};

struct RunLines {
  RunJson config, layers;
  StepLines steps;
};

RunLines parse_metrics(std::string_view metrics, const std::string& where) {
  RunLines run;
  std::vector<RunJson> records;
  for (const std::string_view line : split(metrics, '\n')) {
    RunJson record = RunJson::parse(line, nullptr, false);
    const std::string type = record.is_object() ? record.value("type", "") : "";
    if (type == "config")
      run.config = std::move(record);
    else if (type == "layers")
      run.layers = std::move(record);
    else if (type == "step")
      records.push_back(std::move(record));
  }
  if (!run.config.is_object() || run.config.value("schema", "") != "ddlrun.train.metrics/1")
    refuse_run("no metrics of ddl-train", where);
  if (!run.layers.is_object())
    refuse_run(
        "the metrics have no record of the layers: an older ddl-train wrote them, or one with parameter "
        "servers",
        where);
  if (records.size() < least_steps)
    refuse_run(fmt::format("the metrics have {}, at least {} are needed", count_of(records.size(), "step"),
                           least_steps),
               where);
  for (std::size_t i = records.size() / 2; i < records.size(); ++i) {
    const auto ms = [&](const char* name) { return records[i].at(name).get<double>(); };
    run.steps.compute.push_back(ms("compute_ms"));
    run.steps.input.push_back(ms("input_ms"));
    run.steps.sum.push_back(ms("sum_ms"));
    run.steps.other.push_back(
        std::max(0.0, ms("step_ms") - ms("compute_ms") - ms("comm_ms") - ms("input_ms")));
  }
  return run;
}

// By the name of a span of the lane "compute": its median, of all ranks, times how often a step has it.
std::map<std::string, double> parse_spans(std::string_view timeline, const std::string& where) {
  const RunJson json = RunJson::parse(timeline, nullptr, false);
  if (!json.is_object() || !json.contains("traceEvents")) refuse_run("no timeline of ddl-train", where);
  std::map<std::string, std::vector<double>> spans;
  std::size_t steps = 0;
  for (const RunJson& event : json.at("traceEvents")) {
    if (event.value("ph", "") != "X") continue;
    const std::string lane = event.value("cat", "");
    if (lane == "steps") ++steps;
    if (lane == "compute")
      spans[event.at("name").get<std::string>()].push_back(event.at("dur").get<double>() / 1e3);
  }
  std::map<std::string, double> medians;
  for (const auto& [name, times] : spans) {
    const double often =
        static_cast<double>(times.size()) / static_cast<double>(std::max<std::size_t>(steps, 1));
    medians[name] = quantile_of(times, 0.5) * (often < 1.0 ? 1.0 : std::round(often));
  }
  return medians;
}

void take_layers(const RunJson& record, StepProfile& profile) {
  profile.parameters = record.at("parameters").get<std::size_t>();
  profile.metadata = record.at("metadata").get<std::size_t>();
  for (const RunJson& layer : record.at("layers"))
    profile.layers.push_back({layer.at("name").get<std::string>(),
                              {layer.at("begin").get<std::size_t>(), layer.at("end").get<std::size_t>()}});
  profile.schedules = parse_schedules_json(record.at("schedules").dump());
  profile.narrow_schedules = parse_schedules_json(record.at("narrow_schedules").dump());
}

// The layers' times: from the timeline, or equal ones.
void take_times(const std::map<std::string, double>& spans, double compute_ms, StepProfile& profile) {
  const auto span = [&](const std::string& name) {
    const auto found = spans.find(name);
    return found == spans.end() ? 0.0 : found->second;
  };
  for (ProfileLayer& layer : profile.layers) {
    const double each = compute_ms / static_cast<double>(profile.layers.size());
    layer.forward_ms = spans.empty() ? each / 3.0 : span(layer.name + " forward");
    layer.backward_ms = spans.empty() ? each * 2.0 / 3.0 : span(layer.name + " backward");
  }
  profile.layers_measured = !spans.empty();
  profile.check_ms = span("check gradients");
  profile.rest_ms = std::max(0.0, compute_ms - layers_ms(profile));
}

}  // namespace

StepProfile read_profile(std::string_view metrics, std::string_view timeline, const std::string& where) {
  try {
    const RunLines run = parse_metrics(metrics, where);
    StepProfile profile;
    profile.net = run.config.at("net").get<std::string>();
    profile.source = where;
    profile.ranks_a_host = std::max(1, run.config.at("ranks").get<int>());
    const int local_size = run.config.at("local_size").get<int>();
    if (local_size != profile.ranks_a_host)
      refuse_run(
          fmt::format("a run on several hosts, {} of {} ranks on the first: its sums contain their network",
                      local_size, profile.ranks_a_host),
          where);
    profile.threads = std::max(1, run.config.at("threads").get<int>());
    profile.images = run.config.at("local_batch").get<std::size_t>();
    take_layers(run.layers, profile);
    const double compute_ms = quantile_of(run.steps.compute, 0.5);
    take_times(timeline.empty() ? std::map<std::string, double>() : parse_spans(timeline, where), compute_ms,
               profile);
    profile.input_ms = quantile_of(run.steps.input, 0.5);
    profile.update_ms = std::max(0.0, quantile_of(run.steps.other, 0.5) - profile.check_ms);
    profile.host_sum_ms = profile.ranks_a_host > 1 ? quantile_of(run.steps.sum, 0.5) : 0.0;
    // As the forecast of one rank is computed, so that it is 100 % of itself.
    profile.one_rank_step_ms = alone_ms(profile);
    if (compute_ms > 0.0) {
      profile.lower_quartile = quantile_of(run.steps.compute, 0.25) / compute_ms;
      profile.upper_quartile = quantile_of(run.steps.compute, 0.75) / compute_ms;
    }
    return profile;
  } catch (const RunJson::exception& error) {
    refuse_run(fmt::format("a field is missing or wrong: {}", printable(error.what())), where);
  }
}

}  // namespace ddlrun::bench_predict
