// SPDX-License-Identifier: MIT
// What ranks used over time, in so few points that a run of any length and size stays small. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct UsageSeries {
  std::string name;           // "rank 3"; with many ranks "lowest", "mean", "highest"
  std::vector<double> cores;  // that were busy; NaN: not known, as after the end of the rank
  std::vector<double> mib;    // of memory

  bool operator==(const UsageSeries&) const = default;
};

struct UsageTimeline {
  std::vector<double> seconds;  // since the start of the run, ascending
  std::vector<UsageSeries> series;

  bool operator==(const UsageTimeline&) const = default;
};

constexpr std::size_t most_single_ranks = 6;  // with a series of their own
constexpr std::size_t most_timeline_points = 120;

// What one rank uses now; NaN for one that is not there.
struct RankLoad {
  double cores = 0, mib = 0;
};

class UsageHistory {
 public:
  // `ranks`: the same ones in each call.
  void add(double seconds, const std::vector<RankLoad>& ranks);
  const UsageTimeline& timeline() const { return timeline_; }

 private:
  void halve();

  UsageTimeline timeline_;
  std::size_t period_ = 1;   // calls for one point
  std::size_t waiting_ = 0;  // calls that the last point is the mean of
};

}  // namespace ddlrun::launch
