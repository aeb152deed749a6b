// SPDX-License-Identifier: MIT
#include "runtime/training/buckets.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t line_floats = 16;
constexpr std::size_t least_across = std::size_t{64} << 10U;
constexpr std::size_t shares_across[] = {30, 60};  // as good as all between them, as measured
constexpr std::size_t most_across = std::size_t{4} << 20U;

std::size_t next_line(std::size_t floats) { return (floats + line_floats - 1) / line_floats * line_floats; }

bool same_cuts(std::span<const Range> a, std::span<const Range> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Range& x, const Range& y) { return x.begin == y.begin; });
}

bool has_parameters(const PlannedLayer& layer) { return layer.weights_count + layer.bias_count > 0; }

std::size_t bytes_of(std::size_t begin, std::size_t end) { return (end - begin) * sizeof(float); }

// [from, all of it), the last ones first.
std::vector<Range> cut_backward(const Net& net, std::size_t metadata, std::size_t from,
                                std::size_t bucket_bytes) {
  std::vector<Range> buckets;
  std::size_t end = metadata + net.parameter_count;
  for (std::size_t i = net.layers.size(); i-- > 0;) {
    const PlannedLayer& layer = net.layers[i];
    if (!has_parameters(layer) || layer.weights_offset == 0) continue;
    const std::size_t begin = next_line(metadata + layer.weights_offset);
    if (bucket_bytes == 0 || begin <= from || begin >= end || bytes_of(begin, end) < bucket_bytes) continue;
    buckets.push_back({begin, end});
    end = begin;
  }
  if (from < end) buckets.push_back({from, end});
  return buckets;
}

// [0, until), the metadata first; a layer that would make a bucket larger begins one of its own.
std::vector<Range> cut_forward(const Net& net, std::size_t metadata, std::size_t until,
                               std::size_t bucket_bytes) {
  std::vector<Range> buckets;
  std::size_t begin = 0;
  for (const PlannedLayer& layer : net.layers) {
    if (!has_parameters(layer)) continue;
    const std::size_t cut = next_line(metadata + layer.weights_offset);
    const std::size_t end =
        next_line(metadata + layer.weights_offset + layer.weights_count + layer.bias_count);
    if (cut >= until) break;
    if (cut == begin || bytes_of(begin, std::min(end, until)) <= bucket_bytes) continue;
    buckets.push_back({begin, cut});
    begin = cut;
  }
  buckets.push_back({begin, until});
  return buckets;
}

}  // namespace

std::size_t metadata_count(std::size_t floats) { return next_line(floats); }

std::vector<Range> plan_buckets(const Net& net, std::size_t metadata, std::size_t bucket_bytes) {
  return cut_backward(net, metadata, 0, bucket_bytes);
}

std::vector<Range> order_buckets(const Net& net, std::size_t metadata, const ReduceSchedule& schedule) {
  if (!spans_steps(schedule))
    return plan_buckets(net, metadata, schedule.overlap ? schedule.bucket_bytes : 0);
  const std::size_t all = metadata + net.parameter_count;
  const std::size_t border =
      std::min(all, next_line(all - net.parameter_count * schedule.ahead_percent / 100));
  std::vector<Range> buckets = cut_backward(net, metadata, border, schedule.bucket_bytes);
  const std::vector<Range> rest = cut_forward(net, metadata, border, schedule.bucket_bytes);
  buckets.insert(buckets.end(), rest.begin(), rest.end());
  return buckets;
}

std::size_t find_metadata_bucket(std::span<const Range> buckets) {
  const auto found =
      std::find_if(buckets.begin(), buckets.end(), [](const Range& bucket) { return bucket.begin == 0; });
  return static_cast<std::size_t>(found - buckets.begin());
}

std::string name_bucket(const Net& net, std::size_t metadata, const Range& bucket) {
  const PlannedLayer* first = nullptr;
  const PlannedLayer* last = nullptr;
  for (const PlannedLayer& layer : net.layers) {
    const std::size_t count = layer.weights_count + layer.bias_count;
    const std::size_t begin = metadata + layer.weights_offset;
    if (count == 0 || begin >= bucket.end || begin + count <= bucket.begin) continue;
    if (first == nullptr) first = &layer;
    last = &layer;
  }
  if (first == nullptr) return "totals of the step";
  return first == last ? fmt::format("gradients of {}", first->name)
                       : fmt::format("gradients of {}..{}", first->name, last->name);
}

bool is_final(const Range& bucket, std::size_t metadata, std::size_t from) {
  return bucket.begin >= metadata + from;
}

std::vector<ReduceSchedule> plan_schedules(const Net& net, std::size_t metadata,
                                           const std::vector<bool>& overlap,
                                           const std::vector<std::size_t>& bucket_bytes) {
  std::vector<ReduceSchedule> schedules;
  std::vector<std::vector<Range>> cuts;
  for (const bool one : overlap) {
    for (const std::size_t bytes : one ? bucket_bytes : std::vector<std::size_t>{0}) {
      std::vector<Range> cut = plan_buckets(net, metadata, bytes);
      // One bucket starts behind the backward pass anyway: overlap is then a thread for nothing.
      const bool alone = one && cut.size() == 1 && bucket_bytes.size() * overlap.size() > 1;
      const bool known =
          std::any_of(cuts.begin(), cuts.end(), [&](const auto& other) { return same_cuts(other, cut); });
      if (alone || known) continue;
      schedules.push_back({one, bytes});
      cuts.push_back(std::move(cut));
    }
  }
  if (schedules.empty()) schedules.push_back({});
  return schedules;
}

std::vector<ReduceSchedule> plan_schedules_across(const Net& net, std::size_t metadata,
                                                  std::size_t bucket_bytes) {
  if (bucket_bytes == 0)
    bucket_bytes = std::clamp(net.parameter_count * sizeof(float) / 8, least_across, most_across);
  std::vector<ReduceSchedule> schedules;
  std::vector<std::vector<Range>> cuts;
  for (const std::size_t percent : shares_across) {
    const ReduceSchedule schedule{true, bucket_bytes, percent};
    std::vector<Range> cut = order_buckets(net, metadata, schedule);
    const bool known =
        std::any_of(cuts.begin(), cuts.end(), [&](const auto& other) { return same_cuts(other, cut); });
    // With the metadata as the last one nothing is left for the next step.
    if (find_metadata_bucket(cut) + 1 == cut.size() || known) continue;
    schedules.push_back(schedule);
    cuts.push_back(std::move(cut));
  }
  return schedules;
}

std::string render_reduce_schedule(const ReduceSchedule& schedule, std::span<const Range> buckets) {
  if (!schedule.overlap) return "after each step";
  if (buckets.size() == 1) return "1 bucket, by the communication thread";
  const std::string all = fmt::format("{} buckets from {} kB", buckets.size(), schedule.bucket_bytes / 1024);
  if (!spans_steps(schedule)) return all + ", while computing";
  return fmt::format("{}, {} of them beside the next step", all,
                     buckets.size() - 1 - find_metadata_bucket(buckets));
}

}  // namespace ddlrun::runtime
