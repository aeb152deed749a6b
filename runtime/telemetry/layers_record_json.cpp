// SPDX-License-Identifier: MIT
#include "runtime/telemetry/layers_record_json.hpp"

#include "runtime/training/gradient_reducer.hpp"
#include "runtime/training/schedule_candidates.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::runtime {
namespace {

using LayersJson = nlohmann::ordered_json;

LayersJson schedules_json(const TrainPlan& plan, const Net& net, bool reports_reads, bool chunk_invariant) {
  const std::size_t metadata = metadata_count(total_count + net.state_count);
  LayersJson schedules = LayersJson::array();
  for (const ReduceSchedule& schedule :
       schedules_of_several_ranks(plan, net, reports_reads, chunk_invariant)) {
    const std::vector<Range> buckets = order_buckets(net, metadata, schedule);
    LayersJson ranges = LayersJson::array();
    for (const Range& bucket : buckets) ranges.push_back({bucket.begin, bucket.end});
    schedules.push_back({{"text", render_reduce_schedule(schedule, buckets)},
                         {"overlap", schedule.overlap},
                         {"metadata_bucket", find_metadata_bucket(buckets)},
                         {"buckets", ranges}});
  }
  return schedules;
}

}  // namespace

std::string render_layers_record(const Net& net, const TrainPlan& plan, bool reports_reads) {
  LayersJson layers = LayersJson::array();
  for (const PlannedLayer& layer : net.layers) {
    const std::size_t count = layer.weights_count + layer.bias_count;
    layers.push_back(
        {{"name", layer.name}, {"begin", layer.weights_offset}, {"end", layer.weights_offset + count}});
  }
  const LayersJson json = {{"type", "layers"},
                           {"parameters", net.parameter_count},
                           {"metadata", metadata_count(total_count + net.state_count)},
                           {"layers", layers},
                           {"schedules", schedules_json(plan, net, reports_reads, true)},
                           {"narrow_schedules", schedules_json(plan, net, reports_reads, false)}};
  return json.dump(-1, ' ', false, LayersJson::error_handler_t::replace);
}

}  // namespace ddlrun::runtime
