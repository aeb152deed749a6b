// SPDX-License-Identifier: MIT
#include "runtime/training/buckets.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t line_floats = 16;

std::size_t next_line(std::size_t floats) { return (floats + line_floats - 1) / line_floats * line_floats; }

bool same_cuts(std::span<const Range> a, std::span<const Range> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Range& x, const Range& y) { return x.begin == y.begin; });
}

}  // namespace

std::size_t head_count(std::size_t floats) { return next_line(floats); }

std::vector<Range> plan_buckets(const Net& net, std::size_t head, std::size_t bucket_bytes) {
  std::vector<Range> buckets;
  std::size_t end = head + net.parameter_count;
  for (std::size_t i = net.layers.size(); i-- > 0;) {
    const PlannedLayer& layer = net.layers[i];
    if (layer.weights_count + layer.bias_count == 0 || layer.weights_offset == 0) continue;
    const std::size_t begin = next_line(head + layer.weights_offset);
    if (bucket_bytes == 0 || begin >= end || (end - begin) * sizeof(float) < bucket_bytes) continue;
    buckets.push_back({begin, end});
    end = begin;
  }
  buckets.push_back({0, end});
  return buckets;
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

std::string render_way(const SumWay& way, std::size_t buckets) {
  if (!way.overlap) return "after each step";
  if (buckets == 1) return "1 bucket, by a thread of its own";
  return fmt::format("{} buckets from {} kB, while computing", buckets, way.bucket_bytes / 1024);
}

}  // namespace ddlrun::runtime
