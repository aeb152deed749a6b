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
std::vector<Range> cut_backward(const Net& net, std::size_t head, std::size_t from,
                                std::size_t bucket_bytes) {
  std::vector<Range> buckets;
  std::size_t end = head + net.parameter_count;
  for (std::size_t i = net.layers.size(); i-- > 0;) {
    const PlannedLayer& layer = net.layers[i];
    if (!has_parameters(layer) || layer.weights_offset == 0) continue;
    const std::size_t begin = next_line(head + layer.weights_offset);
    if (bucket_bytes == 0 || begin <= from || begin >= end || bytes_of(begin, end) < bucket_bytes) continue;
    buckets.push_back({begin, end});
    end = begin;
  }
  if (from < end) buckets.push_back({from, end});
  return buckets;
}

// [0, until), the head first; a layer that would make a bucket larger begins one of its own.
std::vector<Range> cut_forward(const Net& net, std::size_t head, std::size_t until,
                               std::size_t bucket_bytes) {
  std::vector<Range> buckets;
  std::size_t begin = 0;
  for (const PlannedLayer& layer : net.layers) {
    if (!has_parameters(layer)) continue;
    const std::size_t cut = next_line(head + layer.weights_offset);
    const std::size_t end = next_line(head + layer.weights_offset + layer.weights_count + layer.bias_count);
    if (cut >= until) break;
    if (cut == begin || bytes_of(begin, std::min(end, until)) <= bucket_bytes) continue;
    buckets.push_back({begin, cut});
    begin = cut;
  }
  buckets.push_back({begin, until});
  return buckets;
}

}  // namespace

std::size_t head_count(std::size_t floats) { return next_line(floats); }

std::vector<Range> plan_buckets(const Net& net, std::size_t head, std::size_t bucket_bytes) {
  return cut_backward(net, head, 0, bucket_bytes);
}

std::vector<Range> plan_travel(const Net& net, std::size_t head, const SumWay& way) {
  if (!goes_across(way)) return plan_buckets(net, head, way.overlap ? way.bucket_bytes : 0);
  const std::size_t all = head + net.parameter_count;
  const std::size_t border = std::min(all, next_line(all - net.parameter_count * way.ahead_percent / 100));
  std::vector<Range> buckets = cut_backward(net, head, border, way.bucket_bytes);
  const std::vector<Range> rest = cut_forward(net, head, border, way.bucket_bytes);
  buckets.insert(buckets.end(), rest.begin(), rest.end());
  return buckets;
}

std::size_t find_head(std::span<const Range> buckets) {
  const auto found =
      std::find_if(buckets.begin(), buckets.end(), [](const Range& bucket) { return bucket.begin == 0; });
  return static_cast<std::size_t>(found - buckets.begin());
}

std::string name_bucket(const Net& net, std::size_t head, const Range& bucket) {
  const PlannedLayer* first = nullptr;
  const PlannedLayer* last = nullptr;
  for (const PlannedLayer& layer : net.layers) {
    const std::size_t count = layer.weights_count + layer.bias_count;
    const std::size_t begin = head + layer.weights_offset;
    if (count == 0 || begin >= bucket.end || begin + count <= bucket.begin) continue;
    if (first == nullptr) first = &layer;
    last = &layer;
  }
  if (first == nullptr) return "totals of the step";
  return first == last ? fmt::format("gradients of {}", first->name)
                       : fmt::format("gradients of {}..{}", first->name, last->name);
}

bool is_final(const Range& bucket, std::size_t head, std::size_t from) { return bucket.begin >= head + from; }

std::vector<SumWay> plan_ways(const Net& net, std::size_t head, const std::vector<bool>& overlap,
                              const std::vector<std::size_t>& bucket_bytes) {
  std::vector<SumWay> ways;
  std::vector<std::vector<Range>> cuts;
  for (const bool one : overlap) {
    for (const std::size_t bytes : one ? bucket_bytes : std::vector<std::size_t>{0}) {
      std::vector<Range> cut = plan_buckets(net, head, bytes);
      // One bucket starts behind the backward pass anyway: overlap is then a thread for nothing.
      const bool alone = one && cut.size() == 1 && bucket_bytes.size() * overlap.size() > 1;
      const bool known =
          std::any_of(cuts.begin(), cuts.end(), [&](const auto& other) { return same_cuts(other, cut); });
      if (alone || known) continue;
      ways.push_back({one, bytes});
      cuts.push_back(std::move(cut));
    }
  }
  if (ways.empty()) ways.push_back({});
  return ways;
}

std::vector<SumWay> plan_ways_across(const Net& net, std::size_t head, std::size_t bucket_bytes) {
  if (bucket_bytes == 0)
    bucket_bytes = std::clamp(net.parameter_count * sizeof(float) / 8, least_across, most_across);
  std::vector<SumWay> ways;
  std::vector<std::vector<Range>> cuts;
  for (const std::size_t percent : shares_across) {
    const SumWay way{true, bucket_bytes, percent};
    std::vector<Range> cut = plan_travel(net, head, way);
    const bool known =
        std::any_of(cuts.begin(), cuts.end(), [&](const auto& other) { return same_cuts(other, cut); });
    // With the head as the last one nothing is left for the next step.
    if (find_head(cut) + 1 == cut.size() || known) continue;
    ways.push_back(way);
    cuts.push_back(std::move(cut));
  }
  return ways;
}

std::string render_way(const SumWay& way, std::span<const Range> buckets) {
  if (!way.overlap) return "after each step";
  if (buckets.size() == 1) return "1 bucket, by a thread of its own";
  const std::string all = fmt::format("{} buckets from {} kB", buckets.size(), way.bucket_bytes / 1024);
  if (!goes_across(way)) return all + ", while computing";
  return fmt::format("{}, {} of them beside the next step", all, buckets.size() - 1 - find_head(buckets));
}

}  // namespace ddlrun::runtime
