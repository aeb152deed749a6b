// SPDX-License-Identifier: MIT
#include "launch/monitor/usage_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ddlrun::launch {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The mean of `count` values and one more.
double mean_with(double mean, std::size_t count, double value) {
  if (std::isnan(mean)) return value;
  if (std::isnan(value)) return mean;
  return mean + (value - mean) / static_cast<double>(count + 1);
}

struct Spread {
  double lowest = unknown, mean = unknown, highest = unknown;
};

Spread spread_of(const std::vector<RankLoad>& ranks, double RankLoad::*value) {
  Spread spread;
  double sum = 0;
  std::size_t count = 0;
  for (const RankLoad& rank : ranks) {
    const double one = rank.*value;
    if (std::isnan(one)) continue;
    spread.lowest = std::fmin(spread.lowest, one);  // takes the number, if one is none
    spread.highest = std::fmax(spread.highest, one);
    sum += one;
    ++count;
  }
  if (count > 0) spread.mean = sum / static_cast<double>(count);
  return spread;
}

std::vector<RankLoad> summarize(const std::vector<RankLoad>& ranks) {
  if (ranks.size() <= most_single_ranks) return ranks;
  const Spread cores = spread_of(ranks, &RankLoad::cores), mib = spread_of(ranks, &RankLoad::mib);
  return {{cores.lowest, mib.lowest}, {cores.mean, mib.mean}, {cores.highest, mib.highest}};
}

std::vector<UsageSeries> name_series(std::size_t ranks) {
  if (ranks > most_single_ranks) return {{"lowest", {}, {}}, {"mean", {}, {}}, {"highest", {}, {}}};
  std::vector<UsageSeries> series;
  for (std::size_t rank = 0; rank < ranks; ++rank) series.push_back({fmt::format("rank {}", rank), {}, {}});
  return series;
}

void halve_values(std::vector<double>& values) {
  std::vector<double> half;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2)
    half.push_back(mean_with(values[i], 1, values[i + 1]));
  values = std::move(half);
}

}  // namespace

void UsageHistory::add(double seconds, const std::vector<RankLoad>& ranks) {
  if (timeline_.series.empty()) timeline_.series = name_series(ranks.size());
  const std::vector<RankLoad> loads = summarize(ranks);
  if (waiting_ == 0 && timeline_.seconds.size() == most_timeline_points) halve();
  const bool is_new = waiting_ == 0;
  const auto put = [&](std::vector<double>& values, double value) {
    if (is_new)
      values.push_back(value);
    else
      values.back() = mean_with(values.back(), waiting_, value);
  };
  put(timeline_.seconds, seconds);
  for (std::size_t i = 0; i < timeline_.series.size(); ++i) {
    put(timeline_.series[i].cores, loads[i].cores);
    put(timeline_.series[i].mib, loads[i].mib);
  }
  waiting_ = (waiting_ + 1) % period_;
}

void UsageHistory::halve() {
  halve_values(timeline_.seconds);
  for (UsageSeries& series : timeline_.series) {
    halve_values(series.cores);
    halve_values(series.mib);
  }
  period_ *= 2;
}

}  // namespace ddlrun::launch
