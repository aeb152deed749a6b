// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/figures.hpp"
#include "base/text/text.hpp"
#include "base/text/utf8.hpp"
#include "bench/scaling/scaling.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ddlrun::bench_report {
namespace {

using ScalingJson = nlohmann::ordered_json;

constexpr std::string_view train_schema = "ddlrun.train/1";

[[noreturn]] void refuse_summary(const std::string& what, const std::string& where) {
  throw Error(ErrorKind::request,
              {what, where, "ddlrun launch 1 -- --max-steps 10 --json   # and look at its output"});
}

double positive_number(const ScalingJson& json, const char* name, const std::string& where) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number() || !(found->get<double>() > 0.0))
    refuse_summary(fmt::format("the summary of ddl-train has no positive '{}'", name), where);
  return found->get<double>();
}

std::size_t positive_count(const ScalingJson& json, const char* name, const std::string& where) {
  const double value = positive_number(json, name, where);
  if (value > 1e15) refuse_summary(fmt::format("the summary's '{}' is {}", name, value), where);
  return static_cast<std::size_t>(value);
}

std::optional<double> percent_of(const ScalingJson& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return value >= 0.0 && value <= 100.0 ? std::optional(value) : std::nullopt;
}

ScalingJson optional_number(const std::optional<double>& value) {
  return value ? ScalingJson(round_to_five_digits(*value)) : ScalingJson();
}

}  // namespace

TrainRun parse_train_summary(std::string_view text, const std::string& where) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.find(train_schema) == std::string_view::npos) continue;
    const auto json = ScalingJson::parse(line, nullptr, false);
    if (!json.is_object() || json.value("schema", "") != train_schema) continue;
    TrainRun run;
    const auto net = json.find("net");
    if (net != json.end() && net->is_string()) run.net = net->get<std::string>();
    run.ranks = static_cast<int>(positive_count(json, "ranks", where));
    run.threads = static_cast<int>(positive_count(json, "threads", where));
    if (json.contains("parameters")) run.parameters = positive_count(json, "parameters", where);
    run.global_batch = positive_count(json, "global_batch", where);
    run.steps = positive_count(json, "steps", where);
    run.images_per_second = positive_number(json, "images_s", where);
    const auto exposed = percent_of(json, "comm_percent");
    if (!exposed) refuse_summary("the summary of ddl-train has no 'comm_percent' from 0 to 100", where);
    run.exposed_percent = *exposed;
    run.input_percent = percent_of(json, "input_percent");
    run.compute_percent = percent_of(json, "compute_percent");
    return run;
  }
  refuse_summary("ddl-train printed no summary", where);
}

std::string render_scaling_json(const Scaling& scaling) {
  ScalingJson json = {{"schema", "ddlrun.bench.scaling/1"},
                      {"net", scaling.net},
                      {"hosts", scaling.hosts},
                      {"batch_a_rank", scaling.batch_a_rank},
                      {"answer", std::string(trim(render_scaling_answer(scaling)))},
                      {"runs", ScalingJson::array()}};
  for (const ScalingRow& row : scaling.rows) {
    json["runs"].push_back({{"ranks", row.run.ranks},
                            {"hosts", row.run.hosts},
                            {"parameters", row.run.parameters},
                            {"threads", row.run.threads},
                            {"global_batch", row.run.global_batch},
                            {"steps", row.run.steps},
                            {"images_s", round_to_five_digits(row.run.images_per_second)},
                            {"speedup", round_to_five_digits(row.speedup)},
                            {"efficiency", round_to_five_digits(row.efficiency)},
                            {"step_ms", round_to_five_digits(row.step_ms)},
                            {"compute_ms", round_to_five_digits(row.compute_ms)},
                            {"exposed_ms", round_to_five_digits(row.exposed_ms)},
                            {"input_ms", optional_number(row.input_ms)},
                            {"other_ms", optional_number(row.other_ms)}});
  }
  return escape_json(json.dump(-1, ' ', false, ScalingJson::error_handler_t::replace)) + "\n";
}

}  // namespace ddlrun::bench_report
