// SPDX-License-Identifier: MIT
// LeNet-5 for 28 x 28 images: 156 + 2416 + 48120 + 10164 + 850 = 61706 parameters.
#include "runtime/models/net.hpp"
#include "runtime/telemetry/layers_record_json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/telemetry/layers_record");

TEST_CASE("the record of the layers: where their gradients are, and the buckets of all schedules to try") {
  const Net net = build_net("lenet5", {1, 28, 28}, 10);
  const std::string text = render_layers_record(net, {}, true);
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.starts_with("{\"type\":"));
  const auto json = nlohmann::json::parse(text);
  CHECK(json["parameters"] == 61706);
  std::vector<std::size_t> counts;
  for (const auto& layer : json["layers"])
    if (layer["end"] != layer["begin"])
      counts.push_back(layer["end"].get<std::size_t>() - layer["begin"].get<std::size_t>());
  CHECK(counts == std::vector<std::size_t>{156, 2416, 48120, 10164, 850});
  CHECK(json["schedules"][0]["overlap"] == false);
  CHECK(json["schedules"].size() > 2);
  CHECK(json["narrow_schedules"].size() == 1);  // another cut would be other bits
  const std::size_t all = json["metadata"].get<std::size_t>() + 61706;
  for (const char* kind : {"schedules", "narrow_schedules"}) {
    for (const auto& schedule : json[kind]) {
      CAPTURE(schedule.dump());
      auto ranges = schedule["buckets"].get<std::vector<std::pair<std::size_t, std::size_t>>>();
      CHECK(ranges.at(schedule["metadata_bucket"].get<std::size_t>()).first == 0);
      std::sort(ranges.begin(), ranges.end());
      std::size_t covered = 0;
      for (const auto& [begin, end] : ranges) {
        CHECK(begin == covered);
        covered = end;
      }
      CHECK(covered == all);
    }
  }
}

TEST_CASE("--overlap off leaves one schedule; an engine without reads has none across steps") {
  const Net net = build_net("lenet5", {1, 28, 28}, 10);
  TrainPlan plan;
  plan.overlap = Overlap::off;
  CHECK(nlohmann::json::parse(render_layers_record(net, plan, true))["schedules"].size() == 1);
  const auto record = nlohmann::json::parse(render_layers_record(net, {}, false));
  for (const auto& schedule : record["schedules"])
    CHECK(schedule["metadata_bucket"].get<std::size_t>() + 1 == schedule["buckets"].size());
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
