// SPDX-License-Identifier: MIT
#include "bench/predict/profile_json.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace ddlrun::bench_predict {
namespace {

using ProfileJson = nlohmann::ordered_json;

ProfileJson schedules_to_json(const std::vector<ProfileSchedule>& schedules) {
  ProfileJson list = ProfileJson::array();
  for (const ProfileSchedule& schedule : schedules) {
    ProfileJson buckets = ProfileJson::array();
    for (const ProfileRange& bucket : schedule.buckets) buckets.push_back({bucket.begin, bucket.end});
    list.push_back({{"text", schedule.text},
                    {"overlap", schedule.overlap},
                    {"metadata_bucket", schedule.metadata_bucket},
                    {"buckets", buckets}});
  }
  return list;
}

// A profile that no step can be computed from.
[[noreturn]] void refuse_saved(const std::string& what, const std::string& where) {
  throw Error(ErrorKind::request,
              {what, where, "ddlrun bench predict --hosts 1-16 --network 10Gbit/s,20us --json predict.json"});
}

const ProfileJson& run_of(const ProfileJson& runs, int ranks, const std::string& where) {
  const ProfileJson* found = nullptr;
  for (const ProfileJson& run : runs) {
    if (run.value("hosts", 1) != 1) continue;
    const int count = run.at("ranks").get<int>();
    if (ranks != 0 && count != ranks) continue;
    if (found == nullptr || found->at("ranks").get<int>() < count) found = &run;
  }
  if (found != nullptr) return *found;
  refuse_saved(ranks == 0 ? "no run on one host is in it"
                          : fmt::format("no run of {} ranks on one host is in it", ranks),
               where);
}

StepProfile from_scaling(const ProfileJson& json, int ranks, const std::string& where) {
  const ProfileJson& runs = json.at("runs");
  const ProfileJson& run = run_of(runs, ranks, where);
  const auto number = [&](const char* name) {
    return run.contains(name) && run.at(name).is_number() ? run.at(name).get<double>() : 0.0;
  };
  if (number("parameters") == 0.0)
    refuse_saved("it has no number of parameters: an older ddlrun wrote it", where);
  BareStep step;
  step.net = json.value("net", "");
  step.source = where;
  step.ranks_a_host = run.at("ranks").get<int>();
  step.threads = run.at("threads").get<int>();
  step.images = json.at("batch_a_rank").get<std::size_t>();
  step.parameters = run.at("parameters").get<std::size_t>();
  step.compute_ms = run.at("compute_ms").get<double>();
  step.other_ms = number("other_ms");
  step.input_ms = number("input_ms");
  step.host_sum_ms = number("exposed_ms");
  const auto first =
      std::ranges::find_if(runs, [](const ProfileJson& each) { return each.at("ranks") == 1; });
  step.one_rank_step_ms = (first == runs.end() ? run : *first).at("step_ms").get<double>();
  return spread_step(step);
}

std::vector<ProfileRange> ranges_from_json(const ProfileJson& list) {
  std::vector<ProfileRange> ranges;
  for (const ProfileJson& range : list) {
    ranges.push_back({range.at(0).get<std::size_t>(), range.at(1).get<std::size_t>()});
    if (ranges.back().begin > ranges.back().end || ranges.back().end > (std::size_t{1} << 40U))
      throw ProfileJson::other_error::create(599, "a range that ends before it begins", &list);
  }
  return ranges;
}

std::vector<ProfileSchedule> schedules_from_json(const ProfileJson& list) {
  std::vector<ProfileSchedule> schedules;
  for (const ProfileJson& each : list) {
    ProfileSchedule schedule{each.at("text").get<std::string>(), each.at("overlap").get<bool>(),
                             each.at("metadata_bucket").get<std::size_t>(),
                             ranges_from_json(each.at("buckets"))};
    if (schedule.metadata_bucket >= schedule.buckets.size())
      throw ProfileJson::other_error::create(599, "a schedule without the bucket of the metadata", &each);
    schedules.push_back(std::move(schedule));
  }
  if (schedules.empty()) throw ProfileJson::other_error::create(599, "no schedules", &list);
  return schedules;
}

StepProfile profile_from_json(const ProfileJson& json) {
  StepProfile profile;
  const auto number = [&](const char* name) {
    const double value = json.at(name).get<double>();
    if (value < 0.0)
      throw ProfileJson::other_error::create(599, fmt::format("'{}' is negative", name), &json);
    return value;
  };
  profile.net = json.at("net").get<std::string>();
  profile.source = json.at("source").get<std::string>();
  profile.ranks_a_host = std::max(1, json.at("ranks_a_host").get<int>());
  profile.threads = std::max(1, json.at("threads").get<int>());
  profile.images = json.at("batch_a_rank").get<std::size_t>();
  profile.parameters = json.at("parameters").get<std::size_t>();
  profile.metadata = json.at("metadata").get<std::size_t>();
  profile.input_ms = number("input_ms");
  profile.rest_ms = number("rest_ms");
  profile.check_ms = number("check_ms");
  profile.update_ms = number("update_ms");
  profile.host_sum_ms = number("host_sum_ms");
  profile.one_rank_step_ms = number("one_rank_step_ms");
  profile.lower_quartile = json.at("quartiles").at(0).get<double>();
  profile.upper_quartile = json.at("quartiles").at(1).get<double>();
  profile.layers_measured = json.at("layers_measured").get<bool>();
  for (const ProfileJson& layer : json.at("layers")) {
    profile.layers.push_back({layer.at("name").get<std::string>(),
                              {layer.at("begin").get<std::size_t>(), layer.at("end").get<std::size_t>()},
                              layer.at("forward_ms").get<double>(),
                              layer.at("backward_ms").get<double>()});
  }
  profile.schedules = schedules_from_json(json.at("schedules"));
  profile.narrow_schedules = schedules_from_json(json.at("narrow_schedules"));
  return profile;
}

}  // namespace

std::vector<ProfileSchedule> parse_schedules_json(std::string_view text) {
  return schedules_from_json(ProfileJson::parse(text));
}

std::string render_profile_json(const StepProfile& profile) {
  ProfileJson layers = ProfileJson::array();
  for (const ProfileLayer& layer : profile.layers) {
    layers.push_back({{"name", layer.name},
                      {"begin", layer.parameters.begin},
                      {"end", layer.parameters.end},
                      {"forward_ms", layer.forward_ms},
                      {"backward_ms", layer.backward_ms}});
  }
  const ProfileJson json = {{"net", profile.net},
                            {"source", profile.source},
                            {"ranks_a_host", profile.ranks_a_host},
                            {"threads", profile.threads},
                            {"batch_a_rank", profile.images},
                            {"parameters", profile.parameters},
                            {"metadata", profile.metadata},
                            {"input_ms", profile.input_ms},
                            {"rest_ms", profile.rest_ms},
                            {"check_ms", profile.check_ms},
                            {"update_ms", profile.update_ms},
                            {"host_sum_ms", profile.host_sum_ms},
                            {"one_rank_step_ms", profile.one_rank_step_ms},
                            {"quartiles", {profile.lower_quartile, profile.upper_quartile}},
                            {"layers_measured", profile.layers_measured},
                            {"layers", layers},
                            {"schedules", schedules_to_json(profile.schedules)},
                            {"narrow_schedules", schedules_to_json(profile.narrow_schedules)}};
  return json.dump(-1, ' ', false, ProfileJson::error_handler_t::replace);
}

StepProfile parse_saved_profile(std::string_view text, int ranks, const std::string& where) {
  const ProfileJson json = ProfileJson::parse(text, nullptr, false);
  const std::string schema = json.is_object() ? json.value("schema", "") : "";
  try {
    if (schema == "ddlrun.bench.scaling/1") return from_scaling(json, ranks, where);
    if (schema == "ddlrun.predict/1") {
      StepProfile profile = profile_from_json(json.at("profile"));
      if (ranks != 0 && ranks != profile.ranks_a_host)
        refuse_saved(
            fmt::format("it was measured with {} ranks on a host, not {}", profile.ranks_a_host, ranks),
            where);
      return profile;
    }
  } catch (const ProfileJson::exception& error) {
    refuse_saved(fmt::format("a field of {} is missing or wrong: {}", schema, printable(error.what())),
                 where);
  }
  refuse_saved("neither a document of bench scaling, nor one of bench predict", where);
}

}  // namespace ddlrun::bench_predict
